import type { EngineJob } from "./engine.ts"

/** Part of a call's tokens that its answer may take; some models could fill a whole job's budget with one answer. */
const ANSWER_SHARE = 1 / 4

/** What one model call may take, in tokens; `contextTokens` includes the answer. */
export type TokenRoom = Readonly<{ contextTokens: number; outputTokens: number }>

/** The smaller of the model's window and what earlier attempts left of the job's budget. Pure. */
export function tokenRoom({
  contextTokens,
  outputTokens,
  limits,
  lease,
}: Pick<EngineJob, "contextTokens" | "outputTokens" | "limits" | "lease">): TokenRoom {
  const { usageSoFar } = lease
  const left = Math.max(1, limits.maxModelTokens - usageSoFar.inputTokens - usageSoFar.outputTokens)
  const window = Math.min(contextTokens, left)
  return { contextTokens: window, outputTokens: Math.min(outputTokens, Math.ceil(window * ANSWER_SHARE)) }
}
