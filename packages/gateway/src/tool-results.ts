import { GalleyError } from "@galley/contract/errors"
import { filesInResult, relativeInside } from "./tool-paths.ts"

/** Stands at the end of a result that was longer than allowed. */
export const CUT_MARKER = "\n[cut here: the result is longer than allowed]"

/** What one message tells about the tools used so far. */
export type ToolUse = Readonly<{
  calls: number
  resultBytes: number
  /** Bytes of results that were cut off. */
  cutBytes: number
  /** Relative to the export. */
  files: readonly string[]
}>

/** What one request tells: an engine sends the whole conversation each time. */
export type ToolHistory = Omit<ToolUse, "files"> & Readonly<{ files: ReadonlySet<string> }>

/**
 * Cuts a tool result to `maxBytes` and says what is left.
 * Throws `tool_not_allowed` when it holds a file from outside the export, which must not reach the model.
 */
export function boundToolResult(result: string, treePath: string, maxBytes: number): ToolUse & { content: string } {
  const content = cutText(result, maxBytes)
  const files = filesInResult(content).map((path) => {
    const inside = relativeInside(treePath, path)
    if (inside === null) throw new GalleyError("tool_not_allowed", "a tool result holds a file from outside the export")
    return inside
  })
  const resultBytes = Buffer.byteLength(content)
  return { content, calls: 0, resultBytes, cutBytes: Buffer.byteLength(result) - resultBytes, files }
}

/** Adds up what the messages of a conversation tell. Pure. */
export function sumToolUse(messages: readonly ToolUse[]): ToolHistory {
  const sum = (count: (use: ToolUse) => number) => messages.reduce((total, use) => total + count(use), 0)
  return {
    calls: sum((use) => use.calls),
    resultBytes: sum((use) => use.resultBytes),
    cutBytes: sum((use) => use.cutBytes),
    files: new Set(messages.flatMap((use) => use.files)),
  }
}

/** At most `maxBytes` of UTF-8 with the marker; a character on the border goes as a whole. */
function cutText(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= maxBytes) return text
  const kept = bytes.subarray(0, Math.max(0, maxBytes - Buffer.byteLength(CUT_MARKER)))
  return new TextDecoder().decode(kept, { stream: true }) + CUT_MARKER
}
