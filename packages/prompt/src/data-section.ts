/**
 * Wraps untrusted text in boundary lines that carry the prompt's nonce. The data cannot end its own section: it does not know the nonce,
 * and should it hold the word all the same, the word is replaced.
 */
export function dataSection(name: string, data: string, nonce: string): string {
  return `BEGIN ${name} ${nonce}\n${data.replaceAll(nonce, "[boundary]")}\nEND ${name} ${nonce}`
}

/** `text` cut to `maxBytes` of UTF-8 between two characters, with a marker that says so; unchanged when it fits. */
export function cutText(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= maxBytes) return bytes.toString()
  let end = maxBytes
  while (end > 0 && isContinuation(bytes[end])) end--
  return `${bytes.toString("utf8", 0, end)} [cut: ${end} of ${bytes.length} bytes shown]`
}

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80

/** The lines that fit `maxBytes`, in order, and a last one counting the others (`hidden` ones, never listed, included). */
export function boundedLines(lines: readonly string[], maxBytes: number, hidden = 0): string {
  const kept: string[] = []
  let bytes = 0
  for (const line of lines) {
    bytes += Buffer.byteLength(line) + 1
    if (bytes > maxBytes) break
    kept.push(line)
  }
  const more = lines.length - kept.length + hidden
  return [...kept, ...(more > 0 ? [`(${more} more not listed)`] : [])].join("\n")
}
