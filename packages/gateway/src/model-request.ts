import { GalleyError } from "@galley/contract/errors"
import { z } from "zod"
import { NEUTRAL_MODEL } from "./gateway.ts"
import { parseJson } from "./parse-json.ts"

/** Text, or parts of text; anything else (images, files) is refused. */
const Content = z.union([z.string(), z.array(z.object({ type: z.literal("text"), text: z.string() }))]).transform((content) => {
  return typeof content === "string" ? content : content.map((part) => part.text).join("")
})

const ToolCall = z.object({
  id: z.string(),
  type: z.literal("function"),
  function: z.object({ name: z.string(), arguments: z.string() }),
})

/** Keys of a message that are not named here are dropped. */
const Message = z.discriminatedUnion("role", [
  z.object({ role: z.enum(["system", "developer", "user"]), content: Content }),
  z.object({
    role: z.literal("assistant"),
    content: Content.nullish(),
    reasoning_content: z.string().nullish(),
    tool_calls: z.array(ToolCall).nullish(),
  }),
  z.object({ role: z.literal("tool"), tool_call_id: z.string(), content: Content }),
])
export type Message = z.infer<typeof Message>

const Tool = z.object({
  type: z.literal("function"),
  function: z.object({
    name: z.string(),
    description: z.string().optional(),
    parameters: z.record(z.string(), z.unknown()).optional(),
    strict: z.boolean().nullish(),
  }),
})

/** What of the chat-completions protocol reaches the model. Strict: any other key could steer the provider. */
export const ModelRequest = z.strictObject({
  model: z.literal(NEUTRAL_MODEL),
  messages: z.array(Message).min(1),
  tools: z.array(Tool).optional(),
  tool_choice: z
    .union([z.enum(["auto", "none", "required"]), z.object({ type: z.literal("function"), function: z.object({ name: z.string() }) })])
    .optional(),
  response_format: z.looseObject({ type: z.string() }).optional(),
  stream: z.boolean().optional(),
  stream_options: z.object({ include_usage: z.boolean().optional() }).optional(),
  temperature: z.number().min(0).max(2).optional(),
  max_tokens: z.int().min(1).optional(),
  max_completion_tokens: z.int().min(1).optional(),
})
export type ModelRequest = z.infer<typeof ModelRequest>

/**
 * Reads the body of a model call. Throws `model_override_refused` when it names another model or a key outside the protocol,
 * `model_request_invalid` when it cannot be understood. Messages say where, never what.
 */
export function parseModelRequest(body: Buffer): ModelRequest {
  const result = ModelRequest.safeParse(parseJson(body.toString("utf8")))
  if (result.success) return result.data
  const overrides = result.error.issues.some(
    (issue) => issue.path[0] === "model" || (issue.code === "unrecognized_keys" && issue.path.length === 0),
  )
  const places = result.error.issues.slice(0, 5).map((issue) => issue.path.join(".") || issue.code)
  throw new GalleyError(overrides ? "model_override_refused" : "model_request_invalid", `refused model request: ${places.join(", ")}`)
}

/** The request as the provider gets it: prepared messages, upstream id, bounded answer, usage always asked for. */
export function upstreamBody(
  request: ModelRequest,
  messages: readonly Readonly<{ json: string }>[],
  upstreamModel: string,
  outputTokens: number,
): string {
  const { messages: _unprepared, max_tokens: _old, max_completion_tokens: newer, ...rest } = request
  const others = JSON.stringify({
    ...rest,
    model: upstreamModel,
    ...(newer === undefined ? { max_tokens: outputTokens } : { max_completion_tokens: outputTokens }),
    stream: request.stream ?? false,
    stream_options: request.stream ? { include_usage: true } : undefined,
  })
  // The messages are JSON already. Writing 1.8 MiB of them anew with each call was measured at 8 ms, putting them together at 1 ms.
  return `{"messages":[${messages.map(({ json }) => json).join(",")}],${others.slice(1)}`
}

/** Tokens of the longest answer the engine asked for; `fallback` when it named none. */
export function wantedOutputTokens(request: ModelRequest, fallback: number): number {
  return request.max_completion_tokens ?? request.max_tokens ?? fallback
}
