import type { Project } from "@galley/store/projects/project"
import type { RunSummary } from "@galley/store/runs/run-summary"
import type { PageContext } from "../page-env.ts"
import { Layout } from "./layout.tsx"
import { Empty } from "./parts.tsx"
import { RunsTable } from "./runs-table.tsx"

type Props = { c: PageContext; runs: readonly RunSummary[]; projects: readonly Project[]; projectId: string | null }

export function RunsPage({ c, runs, projects, projectId }: Props) {
  const base = `/w/${c.get("workspace").slug}`
  return (
    <Layout c={c} title="Runs" section="runs">
      <div class="title">
        <h1>Runs</h1>
        <form class="inline" method="get" action={`${base}/runs`}>
          <label for="project">Project</label>
          <select id="project" name="project">
            <option value="">All</option>
            {projects.map(({ id, owner, name }) => (
              <option value={id} selected={id === projectId}>
                {owner}/{name}
              </option>
            ))}
          </select>
          <button type="submit">Show</button>
        </form>
      </div>
      {runs.length === 0 ? <Empty>No runs yet.</Empty> : <RunsTable base={base} label="Runs" runs={runs} withProject />}
    </Layout>
  )
}
