import type { Project } from "@galley/store/projects/project"
import type { PullRequestOverview } from "@galley/store/pull-requests/pull-request-overview"
import type { RunnerSummary } from "@galley/store/runners/list-runners"
import type { RunSummary } from "@galley/store/runs/run-summary"
import { mayActAs } from "../access/require-access.ts"
import type { PageContext } from "../page-env.ts"
import { JobStatus } from "./job-status.tsx"
import { Layout } from "./layout.tsx"
import { Badge, Empty, KindName, ShaText, Table } from "./parts.tsx"
import { LastReview, ReviewNow } from "./pull-request-parts.tsx"
import { RunsTable } from "./runs-table.tsx"

type Props = {
  c: PageContext
  project: Project
  pullRequests: readonly PullRequestOverview[]
  runs: readonly RunSummary[]
  runners: readonly RunnerSummary[]
}

export function ProjectPage({ c, project, pullRequests, runs, runners }: Props) {
  const { slug, role } = c.get("workspace")
  const base = `/w/${slug}`
  const here = `${base}/projects/${project.id}`
  const mayReview = project.settings.active && mayActAs(role, "member")
  return (
    <Layout c={c} title={`${project.owner}/${project.name}`} section="projects">
      <div class="title">
        <h1>
          {project.owner}/{project.name}
        </h1>
        <KindName kind={project.settings.reviewKind} />
        {project.settings.active ? <Badge tone="good">On</Badge> : <Badge tone="neutral">Off</Badge>}
        <span class="grow"></span>
        <a class="button" href={`${here}/settings`}>
          Settings
        </a>
        <a class="button" href={project.webUrl} rel="noreferrer">
          GitHub
        </a>
      </div>
      {project.settings.active ? null : <p class="notice warn">Reviews are off. Switch them on in the settings.</p>}
      <h2>Open pull requests</h2>
      {pullRequests.length === 0 ? (
        <Empty>None that Galley knows of. A pull request appears with its first event after reviews are on.</Empty>
      ) : (
        <Table label="Open pull requests" head={["Pull request", "Head", "Last review", "Job", "Review"]}>
          {pullRequests.map((pullRequest) => (
            <PullRequestRow {...{ base, here, pullRequest, runners, mayReview }} />
          ))}
        </Table>
      )}
      <form class="inline" method="get" action={`${here}/pulls`}>
        <label for="number">Why no review? Pull request number</label>
        <input id="number" name="number" inputmode="numeric" pattern="[0-9]+" required size={6} />
        <button type="submit">Look up</button>
      </form>
      <h2>Recent runs</h2>
      {runs.length === 0 ? <Empty>No runs yet.</Empty> : <RunsTable base={base} label="Recent runs" runs={runs} />}
      {runs.length === 0 ? null : (
        <p>
          <a href={`${base}/runs?project=${project.id}`}>All runs of this project</a>
        </p>
      )}
    </Layout>
  )
}

type RowProps = { base: string; here: string; pullRequest: PullRequestOverview; runners: readonly RunnerSummary[]; mayReview: boolean }

function PullRequestRow({ base, here, pullRequest, runners, mayReview }: RowProps) {
  const { number, title, author, headSha, lastReviewedSha, jobs, draft } = pullRequest
  return (
    <tr>
      <th scope="row">
        <a href={`${here}/pulls/${number}`}>
          #{number} {title}
        </a>
        <span class="muted">
          {" "}
          by {author}
          {draft ? ", draft" : ""}
        </span>
      </th>
      <td>
        <ShaText sha={headSha} />
      </td>
      <td>
        <LastReview headSha={headSha} lastReviewedSha={lastReviewedSha} />
      </td>
      <td>
        {jobs.length === 0 ? <span class="muted">–</span> : null}
        {jobs.map((job) => (
          <JobStatus base={base} job={job} runners={runners} />
        ))}
      </td>
      <td>
        <ReviewNow action={`${here}/pulls/${number}/review`} number={number} enabled={mayReview} />
      </td>
    </tr>
  )
}
