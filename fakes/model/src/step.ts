import { z } from "zod"
import type { ChatRequest } from "./chat-request.ts"
import { Mode } from "./modes.ts"

/** `args` is an object, or a string that is sent as it is. */
export const ToolCall = z.strictObject({ name: z.string(), args: z.union([z.record(z.string(), z.unknown()), z.string()]) })
export type ToolCall = z.infer<typeof ToolCall>

/**
 * What the model does in one call. Without `say` and `calls` the default script decides the content, so `{ mode }` alone is a
 * misbehaving default. `delayMs` waits before the answer.
 */
export const Step = z.strictObject({
  say: z.string().optional(),
  calls: z.array(ToolCall).optional(),
  mode: Mode.optional(),
  delayMs: z.int().min(0).max(600_000).optional(),
})
export type Step = z.infer<typeof Step>

/** One step per call; afterwards the default script goes on. */
export const Steps = z.array(Step)

/** Steps, or a function of the request and its number (from 0). */
export type Script = readonly Step[] | ((request: ChatRequest, callNumber: number) => Step)
