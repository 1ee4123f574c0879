import type { Coverage } from "@galley/contract/coverage"
import type { Finding } from "@galley/contract/finding"
import { defaultJobLimits } from "@galley/contract/limits"
import type { RunTrace } from "@galley/contract/protocol"
import { noUsage, type Usage } from "@galley/contract/usage"
import type { RunDetail } from "@galley/store/runs/get-run"
import { causeNames, cost, count, duration, omissionWords, phaseNames, plural } from "../words.ts"
import { reasonOf } from "../write-shapes.ts"
import { Ago, Badge, Fact, Reason, RunBadge, runDuration, ShaText } from "./parts.tsx"

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
        <Fact name="Took">{runDuration(detail, now)}</Fact>
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

const priorityTones = { P0: "bad", P1: "bad", P2: "warn", P3: "neutral" } as const

function Findings({ findings }: { findings: readonly Finding[] }) {
  const active = findings.filter(({ state }) => state === "active")
  const resolved = findings.filter(({ state }) => state === "resolved")
  return (
    <section aria-labelledby="findings">
      <h2 id="findings">
        Findings <span class="count">{plural(active.length, "active finding")}</span>
      </h2>
      {active.length === 0 ? <p class="empty">No active findings.</p> : <FindingList findings={active} />}
      {resolved.length === 0 ? null : (
        <details>
          <summary>{plural(resolved.length, "resolved finding")}</summary>
          <FindingList findings={resolved} />
        </details>
      )}
    </section>
  )
}

function FindingList({ findings }: { findings: readonly Finding[] }) {
  return (
    <ol class="findings">
      {findings.map((finding) => (
        <li class="card">
          <h3>
            {finding.priority === null ? null : <Badge tone={priorityTones[finding.priority]}>{finding.priority}</Badge>} {finding.title}
          </h3>
          <p class="place">
            <code>{placeOf(finding)}</code>
            {finding.confidence === null ? "" : ` · confidence ${Math.round(finding.confidence * 100)} %`}
          </p>
          <p class="text">{finding.body}</p>
          {finding.evidence.length === 0 ? null : (
            <details>
              <summary>Evidence</summary>
              <ul>
                {finding.evidence.map((one) => (
                  <li class="text">{one}</li>
                ))}
              </ul>
            </details>
          )}
        </li>
      ))}
    </ol>
  )
}

function placeOf({ path, startLine, endLine }: Finding): string {
  if (startLine === null) return path
  return endLine === null || endLine === startLine ? `${path}:${startLine}` : `${path}:${startLine}-${endLine}`
}

const comparisons: Readonly<Record<Coverage["comparison"], string>> = {
  none: "first review of this pull request",
  exact: "compared with the last reviewed head",
  unavailable: "the last reviewed head could not be compared, so this is a full review",
}

function CoverageSection({ coverage }: { coverage: Coverage }) {
  const { omissions, total } = coverage.omitted
  const changed = omissions.filter((omission) => omission.changed)
  return (
    <section aria-labelledby="coverage">
      <h2 id="coverage">
        Coverage <Badge tone={coverage.status === "complete" ? "good" : "warn"}>{coverage.status}</Badge>
      </h2>
      <p>
        {count(coverage.reviewedFiles)} of {plural(coverage.changedFiles, "changed file")} reviewed; {comparisons[coverage.comparison]}.
      </p>
      {changed.length === 0 ? null : <OmissionTable label="Changed files left out" omissions={changed} />}
      {total === changed.length ? null : (
        <details>
          <summary>{plural(total - changed.length, "other file")} left out of the export</summary>
          <OmissionTable label="Other files left out" omissions={omissions.filter((omission) => !omission.changed)} />
          {omissions.length < total ? <p class="muted">{plural(total - omissions.length, "more path")} not listed.</p> : null}
        </details>
      )}
    </section>
  )
}

function OmissionTable({ label, omissions }: { label: string; omissions: Coverage["omitted"]["omissions"] }) {
  return (
    <table class="compact">
      <caption>{label}</caption>
      <tbody>
        {omissions.map(({ path, reason }) => (
          <tr>
            <td>
              <code>{path}</code>
            </td>
            <td>{omissionWords[reason]}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function UsageSection({ usage }: { usage: Usage }) {
  const { maxModelCalls, maxModelTokens, maxToolCalls, maxToolFiles } = defaultJobLimits
  const rows = [
    { name: "Model calls", value: usage.modelCalls, limit: maxModelCalls },
    { name: "Tokens", value: usage.inputTokens + usage.outputTokens, limit: maxModelTokens },
    { name: "Tool calls", value: usage.toolCalls, limit: maxToolCalls },
    { name: "Files read", value: usage.toolFiles, limit: maxToolFiles },
  ]
  return (
    <section aria-labelledby="usage">
      <h2 id="usage">Usage</h2>
      <div class="bars">
        {rows.map(({ name, value, limit }) => (
          <Bar name={name} share={value / limit} text={`${count(value)} of ${count(limit)}`} />
        ))}
      </div>
      <p>
        {count(usage.inputTokens)} input and {count(usage.outputTokens)} output tokens, cost {cost(usage.costUsd)}.
      </p>
    </section>
  )
}

function Steps({ trace: { engine, steps, droppedFindings } }: { trace: RunTrace }) {
  const total = Math.max(
    1,
    steps.reduce((sum, { ms }) => sum + ms, 0),
  )
  return (
    <section aria-labelledby="steps">
      <h2 id="steps">Steps</h2>
      <div class="bars">
        {steps.map(({ name, ms }) => (
          <Bar name={name} share={ms / total} text={duration(ms)} />
        ))}
      </div>
      <p class="muted">
        {engine.name} {engine.version}
        {droppedFindings.map(({ reason, count: dropped }) => `; ${plural(dropped, "finding")} dropped: ${reason}`)}
      </p>
    </section>
  )
}

/** A horizontal bar with its number in words beside it. */
function Bar({ name, share, text }: { name: string; share: number; text: string }) {
  const width = Math.min(100, Math.max(0, share * 100))
  return (
    <div class="row">
      <span>{name}</span>
      <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
        <rect class="track" width="100" height="6" />
        <rect class="fill" width={width.toFixed(1)} height="6" />
      </svg>
      <span class="number">{text}</span>
    </div>
  )
}
