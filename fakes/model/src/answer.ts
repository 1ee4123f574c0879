import type { ChatRequest } from "./chat-request.ts"
import type { Mode } from "./modes.ts"
import { sampleValue } from "./sample-value.ts"
import type { Step } from "./step.ts"

type Usage = Readonly<Record<"prompt_tokens" | "completion_tokens" | "total_tokens", number | string>>

/** What one call answers, before it is spelled as one body or as a stream. `args` are the text of a call's arguments. */
export type Answer = Readonly<{
  content: string | null
  calls: readonly Readonly<{ name: string; args: string }>[]
  finishReason: string | null
  usage: Usage | null
  /** False: the list of choices stays empty. */
  choices: boolean
}>

/** The well-behaved answer for a step. Four bytes of request or answer count as one token, so that usage is deterministic. */
export function makeAnswer(step: Step, request: ChatRequest): Answer {
  const calls = (step.calls ?? []).map(({ name, args }) => ({ name, args: typeof args === "string" ? args : JSON.stringify(args) }))
  const content = step.say ?? null
  const input = tokens(JSON.stringify([request.messages, request.tools ?? []]))
  const output = tokens((content ?? "") + calls.map(({ name, args }) => name + args).join(""))
  return {
    content,
    calls,
    finishReason: calls.length > 0 ? "tool_calls" : "stop",
    usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
    choices: true,
  }
}

const tokens = (text: string) => Math.ceil(Buffer.byteLength(text) / 4)

/** The answer as a misbehaving model gives it. Modes of the connection and the stream leave it alone. */
export function bendAnswer(answer: Answer, mode: Mode | null, request: ChatRequest): Answer {
  const text = (content: string | null): Answer => ({ ...answer, content, calls: [], finishReason: "stop" })
  const call = (calls: Answer["calls"]): Answer => ({ ...answer, calls, finishReason: "tool_calls" })
  switch (mode?.name) {
    case "no-usage":
      return { ...answer, usage: null }
    case "usage-negative":
      return { ...answer, usage: { prompt_tokens: -5, completion_tokens: -3, total_tokens: -8 } }
    case "usage-text":
      return { ...answer, usage: { prompt_tokens: "12", completion_tokens: "3", total_tokens: "15" } }
    case "finish-length":
      return cut(answer, "length")
    case "finish-content-filter":
      return cut(answer, "content_filter")
    case "finish-null":
      return { ...answer, finishReason: null }
    case "no-choices":
      return { ...answer, choices: false }
    case "null-content":
      return text(null)
    case "prose":
      return text("I looked at the change. It reads well, and nothing stands out.")
    case "garbage":
      return text("review:\n  key_issues_to_review: [\n   - : {{ \t'\n")
    case "split-utf8":
      return { ...answer, content: `# 🦀\n${answer.content ?? ""}` }
    case "unknown-tool":
      return call([{ name: "bash", args: '{"command":"id"}' }])
    case "broken-arguments":
      return { ...answer, calls: answer.calls.map(({ name }) => ({ name, args: '{"filePath": ' })) }
    case "parallel-calls":
      return call(Array.from({ length: mode.n ?? 60 }, () => answer.calls[0] ?? sampleCall(request)))
    case "double-result":
      return { ...answer, calls: answer.calls.flatMap((one) => (one.name === "StructuredOutput" ? [one, one] : [one])) }
    default:
      return answer
  }
}

const firstHalf = (text: string) => text.slice(0, Math.floor(text.length / 2))

const cut = (answer: Answer, finishReason: string): Answer => ({
  ...answer,
  content: answer.content === null ? null : firstHalf(answer.content),
  calls: answer.calls.map(({ name, args }) => ({ name, args: firstHalf(args) })),
  finishReason,
})

function sampleCall(request: ChatRequest): Answer["calls"][number] {
  const tool = request.tools?.[0]?.function
  return { name: tool?.name ?? "read", args: JSON.stringify(sampleValue(tool?.parameters) ?? {}) }
}
