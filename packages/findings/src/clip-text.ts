const MARK = "…"
const MARK_BYTES = 3

/**
 * At most `maxBytes` UTF-8 bytes of `text` (at least 3), whole characters only. A cut text ends with `…`, which counts, so that
 * clipping twice is the same as clipping once.
 */
export function clipText(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text
  let bytes = 0
  let end = 0
  for (const character of text) {
    bytes += Buffer.byteLength(character)
    if (bytes > maxBytes - MARK_BYTES) break
    end += character.length
  }
  return text.slice(0, end) + MARK
}
