import type { RunnerSummary } from "@galley/store/runners/list-runners"
import { provenNow } from "../../runner-api/proven-now.ts"
import { mayActAs } from "../access/require-access.ts"
import type { PageContext } from "../page-env.ts"
import { kindNames } from "../words.ts"
import { Layout } from "./layout.tsx"
import { Empty, Table } from "./parts.tsx"
import { LastSeen, RunnerBadge, RunnerVersion } from "./runner-parts.tsx"

type Props = {
  c: PageContext
  runners: readonly RunnerSummary[]
  /** Why the name that was typed is refused. */
  problem: string | null
  name: string
}

export function RunnersPage({ c, runners, problem, name }: Props) {
  const { slug, role } = c.get("workspace")
  const here = `/w/${slug}/runners`
  return (
    <Layout c={c} title="Runners" section="runners">
      <h1>Runners</h1>
      {runners.length === 0 ? (
        <Empty>No runner works for this workspace yet. Reviews wait until one does.</Empty>
      ) : (
        <Table label="Runners" head={["Runner", "State", "Proven", "Version", "Last seen", { number: "Reviews under way" }]}>
          {runners.map((runner) => (
            <RunnerRow here={here} runner={runner} />
          ))}
        </Table>
      )}
      {mayActAs(role, "admin") ? (
        <Register here={here} problem={problem} name={name} />
      ) : (
        <p class="notice">Only admins and owners of the workspace may change its runners.</p>
      )}
    </Layout>
  )
}

function RunnerRow({ here, runner }: { here: string; runner: RunnerSummary }) {
  const proven = provenNow(runner.capabilities, new Date())
  return (
    <tr>
      <th scope="row">
        <a href={`${here}/${runner.id}`}>{runner.name}</a>
        {runner.workspaceId === null ? <span class="muted"> shared by all workspaces</span> : null}
      </th>
      <td>
        <RunnerBadge runner={runner} />
        {runner.paused && runner.pausedNote !== "" ? <span class="block muted">{runner.pausedNote}</span> : null}
      </td>
      <td>{proven.length === 0 ? <span class="muted">nothing</span> : proven.map(({ kind }) => kindNames[kind]).join(", ")}</td>
      <td>
        <RunnerVersion version={runner.version} />
      </td>
      <td>
        <LastSeen lastSeenAt={runner.lastSeenAt} />
      </td>
      <td class="number">{runner.running}</td>
    </tr>
  )
}

function Register({ here, problem, name }: { here: string } & Pick<Props, "problem" | "name">) {
  return (
    <>
      <h2>Register a runner</h2>
      <form method="post" action={here} class="settings" novalidate>
        <div class="field">
          <label for="name">Name</label>
          <input
            id="name"
            name="name"
            value={name}
            autocomplete="off"
            spellcheck={false}
            aria-invalid={problem === null ? undefined : "true"}
            aria-describedby={problem === null ? "name-hint" : "name-problem name-hint"}
          />
          {problem === null ? null : (
            <p class="problem" id="name-problem" role="alert">
              {problem}
            </p>
          )}
          <p class="hint" id="name-hint">
            Its token is shown once, on the next page. Several processes may share it.
          </p>
        </div>
        <button type="submit" class="primary">
          Register
        </button>
      </form>
    </>
  )
}
