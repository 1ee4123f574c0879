import { GalleyError } from "@galley/contract/errors"
import type { JobLimits } from "@galley/contract/limits"
import type { Credentials } from "@galley/contract/protocol"
import type { Usage } from "@galley/contract/usage"

/** Tokens one call took, as its provider reported them. */
export type TokenUsage = Readonly<{ inputTokens: number; outputTokens: number }>

/**
 * Bytes of request JSON per input token: code takes 3.9 to 4.2 bytes a token with common vocabularies, and JSON escapes add some.
 * An estimate, no bound: dense text can take twice the tokens, so a job can overdraw its budget by part of one call, not more,
 * because the reported usage is booked before the next.
 */
const BYTES_PER_TOKEN = 4
/** An answer that may not even be this long is not worth a call. */
const SMALLEST_ANSWER_TOKENS = 256

export type Reservation = Readonly<{
  /** Longest answer the call may ask for. */
  outputTokens: number
  /** Books what the call took; null when nobody knows, which makes the cost unknown. Once per reservation. */
  settle(usage: TokenUsage | null): void
}>

export type Ledger = Readonly<{
  /**
   * Takes one call and its tokens out of the budget before the model is asked.
   * Throws `model_call_limit`, `model_window_exceeded`, `model_token_limit`.
   */
  reserve(requestBytes: number, wantedOutputTokens: number): Reservation
  /** This attempt only. */
  usage(): Pick<Usage, "modelCalls" | "inputTokens" | "outputTokens" | "costUsd">
}>

/** Counts calls and tokens of one attempt on top of what earlier attempts took. */
export function openLedger(limits: JobLimits, before: Usage, model: Credentials["model"]): Ledger {
  let calls = 0
  let reserved = 0
  let inputTokens = 0
  let outputTokens = 0
  let costKnown = true

  function reserve(requestBytes: number, wanted: number): Reservation {
    if (before.modelCalls + calls >= limits.maxModelCalls) throw new GalleyError("model_call_limit", "all model calls of the job are used")
    const estimate = Math.ceil(requestBytes / BYTES_PER_TOKEN)
    const spent = before.inputTokens + before.outputTokens + inputTokens + outputTokens + reserved
    const window = model.contextTokens - estimate
    const left = limits.maxModelTokens - spent - estimate
    const smallest = Math.min(SMALLEST_ANSWER_TOKENS, wanted)
    if (window < smallest) throw new GalleyError("model_window_exceeded", `about ${estimate} tokens do not fit the context window`)
    if (left < smallest) throw new GalleyError("model_token_limit", `${spent} tokens are spent, about ${estimate} more are asked for`)
    const longest = Math.min(wanted, model.outputTokens, window, left)
    const held = estimate + longest
    calls += 1
    reserved += held
    return {
      outputTokens: longest,
      settle(usage) {
        reserved -= held
        inputTokens += usage?.inputTokens ?? 0
        outputTokens += usage?.outputTokens ?? 0
        costKnown &&= usage !== null
      },
    }
  }

  function costUsd(): number | null {
    if (model.price === null || !costKnown) return null
    return (inputTokens * model.price.input + outputTokens * model.price.output) / 1_000_000
  }

  return { reserve, usage: () => ({ modelCalls: calls, inputTokens, outputTokens, costUsd: costUsd() }) }
}
