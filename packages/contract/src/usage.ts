import { z } from "zod"

/** Far above what all attempts of a job can spend, and low enough that sums over all runs fit their columns. */
const Counter = z.int().min(0).max(1e12)

/** What a run spent at the model, as counted by the gateway. `costUsd` is null when no price is known, never 0. */
export const Usage = z.strictObject({
  modelCalls: Counter,
  inputTokens: Counter,
  outputTokens: Counter,
  toolCalls: Counter,
  toolFiles: Counter,
  toolResultBytes: Counter,
  costUsd: z.number().min(0).max(1e9).nullable(),
})
export type Usage = z.infer<typeof Usage>

export const noUsage: Usage = {
  modelCalls: 0,
  inputTokens: 0,
  outputTokens: 0,
  toolCalls: 0,
  toolFiles: 0,
  toolResultBytes: 0,
  costUsd: null,
}
