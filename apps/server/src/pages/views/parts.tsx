import type { ReviewKind } from "@galley/contract/settings"
import type { JobState } from "@galley/store/queue/job"
import type { RunOutcome } from "@galley/store/runs/run"
import type { RunSummary } from "@galley/store/runs/run-summary"
import type { Child } from "hono/jsx"
import { duration, explain, jobStateNames, kindNames, outcomeNames, timeAgo } from "../words.ts"

export type Tone = "neutral" | "info" | "good" | "warn" | "bad"

const jobTones: Readonly<Record<JobState, Tone>> = {
  waiting: "neutral",
  running: "info",
  publishing: "info",
  succeeded: "good",
  failed: "bad",
  cancelled: "neutral",
  superseded: "neutral",
  skipped: "warn",
}

/** A state as a word with a coloured dot: the word alone says everything. */
export function Badge({ tone, children }: { tone: Tone; children?: Child }) {
  return <span class={`badge ${tone}`}>{children}</span>
}

export const JobBadge = ({ state }: { state: JobState }) => <Badge tone={jobTones[state]}>{jobStateNames[state]}</Badge>

/** How far a run came: a reviewed run is as far as its job, e.g. published. */
export function RunBadge({ outcome, jobState }: { outcome: RunOutcome; jobState: JobState }) {
  if (outcome === "reviewed" || outcome === "skipped" || outcome === "failed" || outcome === "running") {
    const ownState = outcome === "reviewed" ? jobState : outcome
    return <JobBadge state={ownState} />
  }
  return <Badge tone={outcome === "lost" ? "warn" : "neutral"}>{outcomeNames[outcome]}</Badge>
}

export const KindName = ({ kind }: { kind: ReviewKind }) => <span class="kind">{kindNames[kind]}</span>

/** The first ten digits; the whole id in the tooltip. */
export const ShaText = ({ sha }: { sha: string }) => (
  <code class="sha" title={sha}>
    {sha.slice(0, 10)}
  </code>
)

/** A time in words of distance, exact in the tooltip. */
export function Ago({ at, now = new Date() }: { at: Date; now?: Date }) {
  const iso = at.toISOString()
  return (
    <time datetime={iso} title={`${iso.slice(0, 19).replace("T", " ")} UTC`}>
      {timeAgo(at, now)}
    </time>
  )
}

/** A time to the minute, e.g. one to come. */
export function Exact({ at }: { at: Date }) {
  const iso = at.toISOString()
  return <time datetime={iso}>{iso.slice(0, 16).replace("T", " ")} UTC</time>
}

/** A code in words, with the code itself beside it for those who look it up. */
export const Reason = ({ code }: { code: string }) => (
  <span class="reason">
    {explain(code)} <code>{code}</code>
  </span>
)

export const runDuration = ({ run }: RunSummary, now = new Date()): string =>
  duration((run.publishedAt ?? run.endedAt ?? now).getTime() - run.startedAt.getTime())

/** Says that there is nothing, and what to do about it. */
export const Empty = ({ children }: { children?: Child }) => <p class="empty">{children}</p>

/** One fact of a list of facts (`<dl class="facts">`). */
export const Fact = ({ name, children }: { name: string; children?: Child }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)

/** A column's heading; numbers stand at the right. */
export type Column = string | Readonly<{ number: string }>

/** A table that scrolls by itself on narrow screens. */
export function Table({ label, head, children }: { label: string; head: readonly Column[]; children?: Child }) {
  return (
    <div class="scroll">
      <table aria-label={label}>
        <thead>
          <tr>
            {head.map((column) =>
              typeof column === "string" ? (
                <th scope="col">{column}</th>
              ) : (
                <th scope="col" class="number">
                  {column.number}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  )
}
