import { NEUTRAL_MODEL } from "./gateway.ts"
import type { TokenUsage } from "./ledger.ts"
import type { ModelAnswer } from "./read-answer.ts"

/** An answer for the engine, in the form it asked for. Nothing of the provider's own framing, ids or headers is passed on. */
export function writeAnswer(answer: ModelAnswer, usage: TokenUsage, stream: boolean): { contentType: string; body: string } {
  const message = {
    role: "assistant",
    content: answer.content,
    ...(answer.reasoning === "" ? {} : { reasoning_content: answer.reasoning }),
    ...(answer.toolCalls.length === 0 ? {} : { tool_calls: answer.toolCalls.map(toolCall) }),
  }
  const totals = {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
  }
  if (!stream) {
    const choice = { index: 0, message, finish_reason: answer.finishReason }
    return { contentType: "application/json", body: JSON.stringify({ ...frame("chat.completion"), choices: [choice], usage: totals }) }
  }
  const chunks = [
    { choices: [{ index: 0, delta: message, finish_reason: null }] },
    { choices: [{ index: 0, delta: {}, finish_reason: answer.finishReason }] },
    { choices: [], usage: totals },
  ]
  const events = chunks.map((chunk) => `data: ${JSON.stringify({ ...frame("chat.completion.chunk"), ...chunk })}\n\n`)
  return { contentType: "text/event-stream", body: `${events.join("")}data: [DONE]\n\n` }
}

function frame(object: string) {
  return { id: "answer", object, created: 0, model: NEUTRAL_MODEL }
}

function toolCall(call: ModelAnswer["toolCalls"][number], index: number) {
  return { index, id: call.id, type: "function", function: { name: call.name, arguments: call.arguments } }
}
