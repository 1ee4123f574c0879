import { z } from "zod"

const Call = z.looseObject({ id: z.string(), function: z.looseObject({ name: z.string(), arguments: z.string() }) })
const Message = z.looseObject({
  role: z.string(),
  content: z.unknown().optional(),
  tool_calls: z.array(Call).optional(),
  tool_call_id: z.string().optional(),
})
const Tool = z.looseObject({ function: z.looseObject({ name: z.string(), parameters: z.unknown().optional() }) })

/** The parts of a chat-completions request the fake looks at; everything else is kept for whoever reads the records. */
export const ChatRequest = z.looseObject({
  model: z.string(),
  messages: z.array(Message).min(1),
  tools: z.array(Tool).optional(),
  tool_choice: z.union([z.string(), z.looseObject({ function: z.looseObject({ name: z.string() }) })]).optional(),
  response_format: z.looseObject({ json_schema: z.looseObject({ schema: z.unknown().optional() }).optional() }).optional(),
  stream: z.boolean().optional(),
  stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullish(),
})
export type ChatRequest = z.infer<typeof ChatRequest>

/** All text of the messages with this role, whether content is a string or a list of text parts. */
export function textOf(request: ChatRequest, role: string): string {
  return request.messages
    .filter((message) => message.role === role)
    .map((message) => contentText(message.content))
    .join("\n")
}

/** One finished tool call: what the model asked for and what it got. `args` is empty when they were not a JSON object. */
export type ToolExchange = Readonly<{ name: string; args: Record<string, unknown>; result: string }>

/** The tool calls of the conversation that have been answered, in order. */
export function toolExchanges(request: ChatRequest): ToolExchange[] {
  const results = new Map(request.messages.map((message) => [message.tool_call_id, contentText(message.content)]))
  return request.messages
    .flatMap((message) => message.tool_calls ?? [])
    .flatMap((call) => {
      const result = results.get(call.id)
      return result === undefined ? [] : [{ name: call.function.name, args: jsonObject(call.function.arguments), result }]
    })
}

function contentText(content: unknown): string {
  if (typeof content === "string") return content
  if (!Array.isArray(content)) return ""
  return content.map((part: unknown) => (isTextPart(part) ? part.text : "")).join("")
}

const isTextPart = (part: unknown): part is { text: string } =>
  typeof part === "object" && part !== null && "text" in part && typeof part.text === "string"

function jsonObject(text: string): Record<string, unknown> {
  const parsed = z.record(z.string(), z.unknown()).safeParse(parseJson(text))
  return parsed.success ? parsed.data : {}
}

/** The value of a JSON text, or undefined when it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
