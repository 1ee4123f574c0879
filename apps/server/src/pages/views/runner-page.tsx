import type { Capability } from "@galley/contract/protocol"
import type { RunnerSummary } from "@galley/store/runners/list-runners"
import type { RunSummary } from "@galley/store/runs/run-summary"
import { provenNow } from "../../runner-api/proven-now.ts"
import { mayActAs } from "../access/require-access.ts"
import type { PageContext } from "../page-env.ts"
import { Layout } from "./layout.tsx"
import { Ago, Badge, Empty, Exact, Fact, KindName, Table } from "./parts.tsx"
import { PauseSection, RemoveSection, TokenSection } from "./runner-forms.tsx"
import { LastSeen, RunnerBadge, RunnerVersion } from "./runner-parts.tsx"
import { RunsTable } from "./runs-table.tsx"

type Props = {
  c: PageContext
  runner: RunnerSummary
  /** Runs of this workspace that it works on. */
  leases: readonly RunSummary[]
  /** Its token comes from the server's environment. */
  ofEnvironment: boolean
}

export function RunnerPage({ c, runner, leases, ofEnvironment }: Props) {
  const { slug, role } = c.get("workspace")
  const fleet = `/w/${slug}/runners`
  const here = `${fleet}/${runner.id}`
  const shared = runner.workspaceId === null
  return (
    <Layout c={c} title={`Runner ${runner.name}`} section="runners">
      <p class="crumbs">
        <a href={fleet}>Runners</a>
      </p>
      <div class="title">
        <h1>{runner.name}</h1>
        <RunnerBadge runner={runner} />
      </div>
      <Paused runner={runner} />
      <dl class="facts">
        <Fact name="Works for">{shared ? "all workspaces" : "this workspace"}</Fact>
        <Fact name="Calls itself">{runner.reportedName ?? <span class="muted">unknown</span>}</Fact>
        <Fact name="Version">
          <RunnerVersion version={runner.version} />
        </Fact>
        <Fact name="Last seen">
          <LastSeen lastSeenAt={runner.lastSeenAt} />
        </Fact>
        <Fact name="Registered">
          <Ago at={runner.createdAt} />
        </Fact>
      </dl>
      <h2>Proven kinds</h2>
      <Proofs runner={runner} />
      <h2>Reviews under way</h2>
      {leases.length === 0 ? (
        <Empty>None of this workspace.</Empty>
      ) : (
        <RunsTable base={`/w/${slug}`} label="Reviews under way" runs={leases} withProject />
      )}
      {mayActAs(role, "admin") && !shared ? (
        <>
          <PauseSection here={here} runner={runner} />
          <TokenSection here={here} runner={runner} ofEnvironment={ofEnvironment} />
          {ofEnvironment ? null : <RemoveSection here={here} runner={runner} />}
        </>
      ) : (
        <p class="notice">
          {shared
            ? "Shared runners work for every workspace. The operator of this server manages them from the command line."
            : "Only admins and owners of the workspace may change its runners."}
        </p>
      )}
    </Layout>
  )
}

function Paused({ runner: { paused, pausedBy, pausedAt, pausedNote } }: { runner: RunnerSummary }) {
  if (!paused) return null
  return (
    <p class="notice warn">
      Paused{pausedBy === null ? "" : ` by ${pausedBy}`}
      {pausedAt === null ? null : (
        <>
          , <Ago at={pausedAt} />
        </>
      )}
      {pausedNote === "" ? "." : `: ${pausedNote}`}
    </p>
  )
}

function Proofs({ runner }: { runner: RunnerSummary }) {
  if (runner.capabilities.length === 0) {
    return <Empty>None. A runner that can prove no kind asks for no work; its log says which check or engine failed.</Empty>
  }
  const proven = provenNow(runner.capabilities, new Date())
  return (
    <Table label="Proven kinds" head={["Kind", "Proof", "Engine", "Boundary", "Since", "Until"]}>
      {runner.capabilities.map((capability) => (
        <Proof capability={capability} counts={proven.includes(capability)} />
      ))}
    </Table>
  )
}

function Proof({ capability, counts }: { capability: Capability; counts: boolean }) {
  return (
    <tr>
      <th scope="row">
        <KindName kind={capability.kind} />
      </th>
      <td>{counts ? <Badge tone="good">Counts</Badge> : <Badge tone="bad">Ran out</Badge>}</td>
      <td>engine verified: {capability.engineVersion}</td>
      <td>{capability.boundary === "enforced" ? "enforced, self-check passed" : <Badge tone="warn">none (demo)</Badge>}</td>
      <td>
        <Ago at={new Date(capability.checkedAt)} />
      </td>
      <td>
        <Exact at={new Date(capability.expiresAt)} />
      </td>
    </tr>
  )
}
