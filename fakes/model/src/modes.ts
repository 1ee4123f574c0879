import { z } from "zod"

/** Every way the fake can misbehave, with what it does. `n` is the mode's number, see `Mode`. */
export const modes = {
  "status-400": "HTTP 400",
  "status-401": "HTTP 401",
  "status-402": "HTTP 402",
  "status-403": "HTTP 403",
  "status-404": "HTTP 404",
  "status-408": "HTTP 408",
  "status-409": "HTTP 409",
  "status-413": "HTTP 413",
  "status-422": "HTTP 422",
  "status-429": "HTTP 429 with retry-after: n seconds (1)",
  "status-500": "HTTP 500",
  "status-502": "HTTP 502",
  "status-503": "HTTP 503",
  "status-504": "HTTP 504",
  "no-required-tools": "HTTP 400 'Thinking mode does not support this tool_choice' when a tool is required, else a normal answer",
  redirect: "HTTP 302 to another path of this server",
  html: "HTTP 200 with an HTML page",
  "not-json": "HTTP 200 with a body that is neither JSON nor an event stream",
  hang: "accepts the request and never answers",
  "headers-only": "sends the headers and then nothing",
  stall: "sends n events (2), then nothing",
  reset: "sends n events (2), then resets the connection",
  "reset-early": "resets the connection before the headers",
  endless: "an answer that never ends",
  drip: "one event every n milliseconds (100)",
  "no-usage": "no usage at all",
  "usage-early": "the usage event before the finish reason instead of after it",
  "usage-negative": "negative token counts",
  "usage-text": "token counts as strings",
  "finish-length": "the first half of an answer with finish_reason length",
  "finish-content-filter": "the first half of an answer with finish_reason content_filter",
  "finish-null": "finish_reason null to the end",
  "no-choices": "an empty list of choices",
  "null-content": "content null and no tool call",
  "split-utf8": "pauses in the middle of a multi-byte character",
  crlf: "event stream with CRLF line ends",
  comments: "event stream with comment lines between events",
  "no-done": "event stream that ends without [DONE]",
  "after-done": "event stream with another event after [DONE]",
  "error-event": "an error object inside the event stream after n events (2)",
  "unknown-tool": "calls a tool that was not offered",
  "broken-arguments": "tool arguments that are not JSON",
  "parallel-calls": "n tool calls (60) at once",
  "double-result": "StructuredOutput called twice at once, when it is called",
  prose: "prose instead of a tool call or YAML",
  garbage: "broken YAML instead of a tool call or YAML",
} as const

export type ModeName = keyof typeof modes

const names = Object.keys(modes)

/** One misbehavior; `n` changes the number its description gives in parentheses. */
export const Mode = z.strictObject({
  name: z.custom<ModeName>((name) => typeof name === "string" && names.includes(name), "unknown mode"),
  n: z.int().min(0).max(1_000_000).optional(),
})
export type Mode = z.infer<typeof Mode>

/** Reads a mode as the command line spells it: `name` or `name:n`. Throws a `ZodError` for anything else. */
export function parseMode(text: string): Mode {
  const [, name, n] = text.match(/^([^:]+)(?::(\d+))?$/) ?? []
  return Mode.parse(n === undefined ? { name } : { name, n: Number(n) })
}
