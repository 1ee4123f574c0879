import type { Answer } from "./answer.ts"
import type { ChatRequest } from "./chat-request.ts"
import type { Mode } from "./modes.ts"

/** Bytes to send one after the other; `filler` is what an answer that never ends goes on with. */
export type Spelled = Readonly<{ contentType: string; frames: readonly string[]; filler: string }>

type Identity = Readonly<{ model: string; number: number }>

/** An answer as one JSON body. `number` of the call makes its ids unique. */
export function spellBody(answer: Answer, identity: Identity): Spelled {
  const message = {
    role: "assistant",
    content: answer.content,
    ...(answer.calls.length > 0 ? { tool_calls: answer.calls.map((call, index) => toolCall(identity, index, call)) } : {}),
  }
  const body = JSON.stringify({
    ...head(identity, "chat.completion"),
    choices: answer.choices ? [{ index: 0, message, finish_reason: answer.finishReason }] : [],
    ...(answer.usage ? { usage: answer.usage } : {}),
  })
  return { contentType: "application/json", frames: pieces(body, 64), filler: " " }
}

/** An answer as server-sent events; the usage event comes only when `stream_options.include_usage` asked for it. */
export function spellStream(answer: Answer, identity: Identity, request: ChatRequest, mode: Mode | null): Spelled {
  const event = (value: object) => `data: ${JSON.stringify({ ...head(identity, "chat.completion.chunk"), ...value })}\n\n`
  const delta = (part: object, finish: string | null = null) =>
    event({ choices: answer.choices ? [{ index: 0, delta: part, finish_reason: finish }] : [] })
  const content = [
    delta({ role: "assistant", content: "" }),
    ...pieces(answer.content ?? "", 20).map((piece) => delta({ content: piece })),
    ...answer.calls.flatMap((call, index) => [
      delta({ tool_calls: [{ index, ...toolCall(identity, index, { ...call, args: "" }) }] }),
      ...pieces(call.args, 40).map((piece) => delta({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ]),
  ]
  const finish = delta({}, answer.finishReason)
  const usage = answer.usage && request.stream_options?.include_usage ? [event({ choices: [], usage: answer.usage })] : []
  const end = mode?.name === "usage-early" ? [...usage, finish] : [finish, ...usage]
  const frames = bendStream([...content, ...end, "data: [DONE]\n\n"], mode)
  return { contentType: "text/event-stream", frames, filler: delta({ content: "and so on " }) }
}

function bendStream(frames: readonly string[], mode: Mode | null): readonly string[] {
  switch (mode?.name) {
    case "crlf":
      return frames.map((frame) => frame.replaceAll("\n", "\r\n"))
    case "comments":
      return frames.flatMap((frame) => [": keepalive\n\n", frame])
    case "no-done":
      return frames.slice(0, -1)
    case "after-done":
      return [...frames, ...frames.slice(1, 2)]
    case "error-event":
      return [...frames.slice(0, mode.n ?? 2), `data: ${JSON.stringify({ error: { message: "scripted error", type: "scripted" } })}\n\n`]
    default:
      return frames
  }
}

/** A fixed time: the same call gives the same bytes. */
const head = ({ model, number }: Identity, object: string) => ({ id: `chatcmpl-${number}`, object, created: 1, model })

const toolCall = ({ number }: Identity, index: number, { name, args }: Answer["calls"][number]) => ({
  id: `call_${number}_${index}`,
  type: "function",
  function: { name, arguments: args },
})

const pieces = (text: string, characters: number): string[] => text.match(new RegExp(`[^]{1,${characters}}`, "gu")) ?? []
