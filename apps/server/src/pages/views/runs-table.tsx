import { noUsage } from "@galley/contract/usage"
import type { RunSummary } from "@galley/store/runs/run-summary"
import { cost, count } from "../words.ts"
import { Ago, KindName, RunBadge, runDuration, ShaText, Table } from "./parts.tsx"

type Props = { base: string; label: string; runs: readonly RunSummary[]; withProject?: boolean }

/** Runs, newest first. `base` is the address of the workspace. */
export function RunsTable({ base, label, runs, withProject = false }: Props) {
  const numbers = ["Findings", "Calls", "Tokens", "Cost", "Took"].map((number) => ({ number }))
  const head = ["Started", "Pull request", "Head", "Kind", "State", ...numbers]
  return (
    <Table label={label} head={head}>
      {runs.map((summary) => (
        <RunRow base={base} summary={summary} withProject={withProject} />
      ))}
    </Table>
  )
}

function RunRow({ base, summary, withProject }: { base: string; summary: RunSummary; withProject: boolean }) {
  const { run, job, project, pullRequest } = summary
  const usage = { ...noUsage, ...run.usage }
  return (
    <tr>
      <th scope="row">
        <a href={`${base}/runs/${run.id}`}>
          <Ago at={run.startedAt} />
        </a>
      </th>
      <td>
        <a href={`${base}/projects/${project.id}/pulls/${pullRequest.number}`}>
          {withProject ? `${project.owner}/${project.name}` : ""}#{pullRequest.number}
        </a>
      </td>
      <td>
        <ShaText sha={run.headSha} />
      </td>
      <td>
        <KindName kind={run.reviewKind} />
      </td>
      <td>
        <RunBadge outcome={run.outcome} jobState={job.state} />
      </td>
      <td class="number">{summary.activeFindings ?? "–"}</td>
      <td class="number">{count(usage.modelCalls)}</td>
      <td class="number">{count(usage.inputTokens + usage.outputTokens)}</td>
      <td class="number">{cost(usage.costUsd)}</td>
      <td class="number">{runDuration(summary)}</td>
    </tr>
  )
}
