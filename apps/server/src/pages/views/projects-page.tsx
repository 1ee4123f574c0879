import type { ProjectActivity } from "@galley/store/projects/list-project-activity"
import type { Project } from "@galley/store/projects/project"
import type { PageContext } from "../page-env.ts"
import { plural } from "../words.ts"
import { Layout } from "./layout.tsx"
import { Ago, Badge, Empty, KindName, RunBadge, Table } from "./parts.tsx"

type Props = { c: PageContext; projects: readonly Project[]; activity: ReadonlyMap<string, ProjectActivity> }

export function ProjectsPage({ c, projects, activity }: Props) {
  const base = `/w/${c.get("workspace").slug}`
  return (
    <Layout c={c} title="Projects" section="projects">
      <h1>Projects</h1>
      {projects.length === 0 ? (
        <Empty>No repositories yet. Install the GitHub App on a repository and it appears here.</Empty>
      ) : (
        <Table label="Projects" head={["Repository", "Review kind", "Reviews", "Last run", "Waiting"]}>
          {projects.map((project) => (
            <ProjectRow base={base} project={project} activity={activity.get(project.id)} />
          ))}
        </Table>
      )}
    </Layout>
  )
}

function ProjectRow({ base, project, activity }: { base: string; project: Project; activity: ProjectActivity | undefined }) {
  const last = activity?.lastRun ?? null
  return (
    <tr>
      <th scope="row">
        <a href={`${base}/projects/${project.id}`}>
          {project.owner}/{project.name}
        </a>
      </th>
      <td>
        <KindName kind={project.settings.reviewKind} />
      </td>
      <td>{project.settings.active ? <Badge tone="good">On</Badge> : <Badge tone="neutral">Off</Badge>}</td>
      <td>
        {last === null ? (
          <span class="muted">none yet</span>
        ) : (
          <>
            <RunBadge outcome={last.outcome} jobState={last.jobState} />{" "}
            <a href={`${base}/runs/${last.id}`}>
              #{last.pullRequestNumber}, <Ago at={last.startedAt} />
            </a>
          </>
        )}
      </td>
      <td>{activity === undefined || activity.waitingJobs === 0 ? <span class="muted">–</span> : plural(activity.waitingJobs, "job")}</td>
    </tr>
  )
}
