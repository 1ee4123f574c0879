const MARKER = "[redacted:private-key]"
const BORDER = /-----(?<side>BEGIN|END)[A-Z0-9 _-]{0,40}PRIVATE KEY(?: BLOCK)?-----/g
/** Characters from first to last line at most: an RSA key of 16,384 bits has 12,700, numbered diff lines add some. */
const MAX_BLOCK = 32_768
/** A line of base64 as it stands in a key, behind a diff sign, a line number or indentation. */
const BODY_LINE = /^[-+ \t\d:|>"'`]{0,24}[A-Za-z0-9+/=]{20,200}[\\rn"'`,;+ \t]{0,12}\r?$/

type Span = Readonly<{ start: number; end: number }>

/** Replaces private key blocks, also those cut at either end (a hunk border, a read with an offset). Keeps line breaks and diff signs. */
export function redactPrivateKeys(text: string): { text: string; count: number } {
  const parts: string[] = []
  let count = 0
  let done = 0
  for (const { start, end } of keyBlocks(text)) {
    parts.push(text.slice(done, start), blank(text.slice(start, end)))
    count += 1
    done = end
  }
  return { text: count === 0 ? text : parts.join("") + text.slice(done), count }
}

/** Places of the blocks in order, without overlap. */
function keyBlocks(text: string): Span[] {
  if (!text.includes("PRIVATE KEY")) return []
  const blocks: Span[] = []
  let done = 0
  const borders = [...text.matchAll(BORDER)]
  borders.forEach((border, index) => {
    if (border.index < done) return
    const end = border.index + border[0].length
    const next = borders[index + 1]
    const whole = next !== undefined && isLast(next) && next.index - end <= MAX_BLOCK
    const block = isLast(border)
      ? { start: bodyStart(text, border.index, done), end }
      : { start: border.index, end: whole ? next.index + next[0].length : bodyEnd(text, end) }
    blocks.push(block)
    done = block.end
  })
  return blocks
}

function isLast(border: RegExpExecArray): boolean {
  return border.groups?.side === "END"
}

/** End of the base64 that follows a first line whose last line is missing: the rest of its own line, then whole lines. */
function bodyEnd(text: string, from: number): number {
  const ownLine = /^(?:\\[nr]|[A-Za-z0-9+/=])*/.exec(text.slice(from, from + MAX_BLOCK))
  let end = from + (ownLine?.[0].length ?? 0)
  while (text[end] === "\n") {
    const next = text.slice(end + 1, end + 257).split("\n", 1)[0] ?? ""
    if (!BODY_LINE.test(next)) break
    end += 1 + next.length
  }
  return end
}

/** Start of the base64 lines before a last line whose first line is missing; not before `floor`. */
function bodyStart(text: string, lastLine: number, floor: number): number {
  let start = lastLine
  // Not before the floor: scanning back over what is done already would be quadratic for many last lines on one line.
  let lineStart = floor + text.slice(floor, lastLine).lastIndexOf("\n") + 1
  while (lineStart > floor) {
    const previous = Math.max(floor, lineStart - 258) + text.slice(Math.max(floor, lineStart - 258), lineStart - 1).lastIndexOf("\n") + 1
    if (!BODY_LINE.test(text.slice(previous, lineStart - 1))) break
    start = previous
    lineStart = previous
  }
  return start
}

/** The marker, and of every line of the block its break and its diff sign. */
function blank(block: string): string {
  const sign = /^[-+ ](?!----)/.exec(block)?.[0] ?? ""
  const breaks = block.match(/\n(?:[-+ ](?!----(?:BEGIN|END)))?/g) ?? []
  return sign + MARKER + breaks.join("")
}
