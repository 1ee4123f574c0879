import { z } from "zod"

/** What a run spent at the model, as counted by the gateway. `costUsd` is null when no price is known, never 0. */
export const Usage = z.strictObject({
  modelCalls: z.int().min(0),
  inputTokens: z.int().min(0),
  outputTokens: z.int().min(0),
  toolCalls: z.int().min(0),
  toolFiles: z.int().min(0),
  toolResultBytes: z.int().min(0),
  costUsd: z.number().min(0).nullable(),
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
