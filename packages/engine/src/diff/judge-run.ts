import { GalleyError, type GalleyErrorCode } from "@galley/contract/errors"
import type { FindingState } from "@galley/contract/finding"
import type { Sha } from "@galley/contract/sha"
import { MARKER, parseComment } from "@galley/findings/comment-state"
import { z } from "zod"

/** What a PR-Agent run left behind. */
export type RunTraces = Readonly<{
  exitCode: number | null
  exitSignal: string | null
  /** Content of the record file, one JSON object a line. */
  recordText: string
  /** How many answers the model gave. */
  modelAnswers: number
}>

export type RunJudgement = Readonly<{
  issues: readonly unknown[]
  state: FindingState
  excludedFiles: readonly string[]
  complete: boolean
}>

const ReviewRecord = z.object({
  type: z.literal("review"),
  payload: z.object({ key_issues_to_review: z.array(z.record(z.string(), z.unknown())) }),
  markdown: z.string(),
})

/**
 * Decides whether a run of PR-Agent was a review. Exit 0 is not enough: it also exits 0 for a cut answer, a skipped request, a review it
 * could not store and an output it could not write. Pure.
 *
 * Throws `engine_config` (exit 2), `engine_failed` (another exit), `engine_crashed` (a signal), or `engine_no_output` for everything that
 * is not exactly one whole review of our head. What the gateway saw is for `gatewayFailure`.
 */
export function judgeRun(traces: RunTraces, headSha: Sha): RunJudgement {
  checkExit(traces)
  if (traces.modelAnswers === 0) throw noOutput("no_model_answer")
  const record = onlyRecord(traces.recordText)
  const state = stateOf(record.markdown)
  const lastRun = state.last_run
  if (lastRun?.head_sha !== headSha) throw noOutput("other_head")
  return {
    issues: record.payload.key_issues_to_review,
    state,
    excludedFiles: lastRun.excluded_files ?? [],
    complete: lastRun.complete === true,
  }
}

function checkExit({ exitCode, exitSignal }: RunTraces): void {
  if (exitSignal !== null) throw new GalleyError("engine_crashed", "PR-Agent was ended by a signal", { details: { signal: exitSignal } })
  const code: GalleyErrorCode = exitCode === 2 ? "engine_config" : "engine_failed"
  if (exitCode !== 0) throw new GalleyError(code, "PR-Agent failed", { details: { exitCode: exitCode ?? -1 } })
}

function onlyRecord(text: string): z.infer<typeof ReviewRecord> {
  const [line, ...others] = text.split("\n").filter((part) => part !== "")
  if (line === undefined || others.length > 0) throw noOutput("not_one_record")
  const parsed = z.string().transform(parseJson).pipe(ReviewRecord).safeParse(line)
  if (!parsed.success) throw noOutput("record_invalid")
  return parsed.data
}

function parseJson(text: string, context: z.RefinementCtx): unknown {
  try {
    return JSON.parse(text)
  } catch {
    context.addIssue({ code: "custom", message: "not JSON" })
    return z.NEVER
  }
}

/** The record repeats the comment without its marker line. */
function stateOf(markdown: string): FindingState {
  try {
    const comment = parseComment(`${MARKER}\n${markdown}`)
    if (comment !== null) return comment.state
  } catch (cause) {
    throw noOutput("state_block_invalid", cause)
  }
  throw noOutput("no_state_block")
}

function noOutput(reason: string, cause?: unknown): GalleyError {
  return new GalleyError("engine_no_output", "PR-Agent ended without a whole review", { cause, details: { reason } })
}
