import { setTimeout as delay } from "node:timers/promises"
import type { PagesClient } from "./pages-client.ts"

/** A run as the pages tell it in JSON. */
export type RunRow = Readonly<{
  id: string
  jobId: string
  kind: "diff" | "dynamic"
  outcome: string
  jobState: string
  code: string | null
  detail: string | null
  headSha: string
  usage: { modelCalls: number; inputTokens: number; outputTokens: number }
  findings: number | null
  commentId: number | null
  startedAt: string
  publishedAt: string | null
}>

/** The line that `make demo ONCE=1` prints for a run. `seconds` counts from the request to the published comment. */
export type RunLine = Readonly<{
  kind: string
  outcome: string
  reviewedSha: string
  modelCalls: number
  inputTokens: number
  outputTokens: number
  findings: number | null
  commentId: number | null
  seconds: number
}>

const POLL_MS = 200
const finalStates = new Set(["succeeded", "failed", "cancelled", "superseded", "skipped"])

export type RunWait = Readonly<{
  projectId: string
  /** Runs that are not meant. */
  known: ReadonlySet<string>
  kind: "diff" | "dynamic"
  timeoutMs: number
  /** Called when the state changes. */
  onState: (state: string) => void
}>

/** Waits for the job of a new run to end and returns its last run. Throws after `timeoutMs`. */
export async function waitForRun(pages: PagesClient, { projectId, known, kind, timeoutMs, onState }: RunWait): Promise<RunRow> {
  const deadline = performance.now() + timeoutMs
  let last = ""
  for (;;) {
    const { runs } = await pages.get<{ runs: RunRow[] }>(`${pages.workspacePath}/runs?project=${projectId}`)
    const run = runs.find((candidate) => candidate.kind === kind && !known.has(candidate.id))
    const state = run === undefined ? "waiting for a runner" : run.jobState
    if (state !== last) onState(state)
    last = state
    if (run !== undefined && finalStates.has(run.jobState)) return run
    if (performance.now() > deadline) throw new Error(`the ${kind} review did not end within ${timeoutMs / 1000} s (${state})`)
    await delay(POLL_MS)
  }
}

export function runLine(run: RunRow, seconds: number): RunLine {
  return {
    kind: run.kind,
    outcome: run.jobState === "succeeded" ? "published" : (run.code ?? run.jobState),
    reviewedSha: run.headSha,
    modelCalls: run.usage.modelCalls,
    inputTokens: run.usage.inputTokens,
    outputTokens: run.usage.outputTokens,
    findings: run.findings,
    commentId: run.commentId,
    seconds: Math.round(seconds * 10) / 10,
  }
}
