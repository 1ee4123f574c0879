import { noUsage } from "@galley/contract/usage"
import type { RunDetail } from "@galley/store/runs/get-run"
import { causeNames, phaseNames } from "../words.ts"
import { reasonOf } from "../write-shapes.ts"
import { CoverageSection } from "./coverage.tsx"
import { Findings } from "./findings.tsx"
import { Ago, Fact, Reason, RunBadge, runDuration, ShaText } from "./parts.tsx"
import { Steps, UsageSection } from "./usage.tsx"

/** Whether nothing about the run can change any more. Pure. */
export const isOver = ({ run, job }: RunDetail): boolean =>
  run.outcome !== "running" && !(run.outcome === "reviewed" && job.state === "publishing")

/** One line that says where the run stands; it is announced when it changes. */
export function RunStatus({ detail }: { detail: RunDetail }) {
  const { run, job } = detail
  const phase = run.outcome === "running" ? (run.phase === null ? "Leased" : phaseNames[run.phase]) : null
  return (
    <>
      <RunBadge outcome={run.outcome} jobState={job.state} />
      {phase === null ? null : (
        <span>
          {phase}
          {run.progress === null || run.progress === "" ? "" : `, ${run.progress}`}
        </span>
      )}
    </>
  )
}

/** Everything of a run that changes while it goes on. */
export function RunBody({ detail, now = new Date() }: { detail: RunDetail; now?: Date }) {
  const { run, job, result, runnerName } = detail
  const { code, detail: why } = reasonOf(detail)
  return (
    <>
      {code === null ? null : (
        <p class="notice bad">
          <Reason code={code} />
          {why === null || why === "" ? null : <span class="block">{why}</span>}
        </p>
      )}
      <dl class="facts">
        <Fact name="Head">
          <ShaText sha={run.headSha} />
        </Fact>
        <Fact name="Asked for by">
          {causeNames[job.cause]}
          {job.requestedBy === null ? "" : ` (${job.requestedBy})`}
        </Fact>
        <Fact name="Started">
          <Ago at={run.startedAt} now={now} />
        </Fact>
        <Fact name={isOver(detail) ? "Took" : "Running for"}>{runDuration(detail, now)}</Fact>
        <Fact name="Runner">{runnerName ?? "removed"}</Fact>
        <Fact name="Attempt">{run.attempt}</Fact>
      </dl>
      {result === null ? null : <Findings findings={result.findings} />}
      {result === null ? null : <CoverageSection coverage={result.coverage} />}
      <UsageSection usage={{ ...noUsage, ...run.usage }} />
      {result === null ? null : <Steps trace={result.trace} />}
      {result?.comment == null ? null : (
        <details>
          <summary>Rendered comment</summary>
          <pre class="comment">{result.comment}</pre>
        </details>
      )}
    </>
  )
}
