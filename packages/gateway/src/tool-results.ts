import { GalleyError } from "@galley/contract/errors"
import type { Message } from "./model-request.ts"
import { filesInResult, relativeInside } from "./tool-paths.ts"

/** Stands at the end of a result that was longer than allowed. */
export const CUT_MARKER = "\n[cut here: the result is longer than allowed]"

/** What one request tells about the tools used so far: an engine sends the whole conversation each time. */
export type ToolHistory = Readonly<{
  messages: readonly Message[]
  calls: number
  resultBytes: number
  /** Bytes of results that were cut off. */
  cutBytes: number
  /** Relative to the export. */
  files: ReadonlySet<string>
}>

/**
 * Cuts every tool result to `maxResultBytes` and counts what is left. The engine keeps the whole result and sends it again, so this
 * runs on each request.
 *
 * Throws `tool_not_allowed` when a result holds a file from outside the export, which must not reach the model.
 */
export function boundToolResults(messages: readonly Message[], treePath: string, resultTool: string, maxResultBytes: number): ToolHistory {
  const files = new Set<string>()
  let calls = 0
  let resultBytes = 0
  let cutBytes = 0
  const bounded = messages.map((message): Message => {
    if (message.role === "assistant") calls += message.tool_calls?.filter((call) => call.function.name !== resultTool).length ?? 0
    if (message.role !== "tool") return message
    const content = cutText(message.content, maxResultBytes)
    resultBytes += Buffer.byteLength(content)
    cutBytes += Buffer.byteLength(message.content) - Buffer.byteLength(content)
    for (const path of filesInResult(content)) {
      const inside = relativeInside(treePath, path)
      if (inside === null) throw new GalleyError("tool_not_allowed", "a tool result holds a file from outside the export")
      files.add(inside)
    }
    return { ...message, content }
  })
  return { messages: bounded, calls, resultBytes, cutBytes, files }
}

/** At most `maxBytes` of UTF-8 with the marker; a character on the border goes as a whole. */
function cutText(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= maxBytes) return text
  const kept = bytes.subarray(0, Math.max(0, maxBytes - Buffer.byteLength(CUT_MARKER)))
  return new TextDecoder().decode(kept, { stream: true }) + CUT_MARKER
}
