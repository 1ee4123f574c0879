import { redact } from "@galley/redaction/redact"
import type { Message } from "./model-request.ts"

type ToolCall = NonNullable<Extract<Message, { role: "assistant" }>["tool_calls"]>[number]

/** A message without recognised secrets in any text of it; names and ids stay. */
export function cleanMessage(message: Message, secrets: readonly string[]): Message {
  const clean = (text: string): string => redact(text, secrets).text
  if (message.role !== "assistant") return { ...message, content: clean(message.content) }
  return {
    ...message,
    ...(message.content ? { content: clean(message.content) } : {}),
    ...(message.reasoning_content ? { reasoning_content: clean(message.reasoning_content) } : {}),
    ...(message.tool_calls ? { tool_calls: message.tool_calls.map((call) => cleanCall(call, clean)) } : {}),
  }
}

function cleanCall(call: ToolCall, clean: (text: string) => string): ToolCall {
  return { ...call, function: { ...call.function, arguments: clean(call.function.arguments) } }
}
