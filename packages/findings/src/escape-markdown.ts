/** Characters which are not seen, or change the order in which others are seen. Joiners stay: scripts and emoji need them. */
const UNSEEN =
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff]|[\u{e0000}-\u{e0fff}]/gu

/**
 * In this order: what GitHub would make a link, a mention or a reference of (a zero-width space after it prevents that), what Markdown
 * reads as markup, and what HTML or mathematics would begin with.
 */
const SPECIAL = /(:(?=\/\/)|[wW]{3}(?=\.)|[gG][hH]-(?=\d)|#(?=\d)|@)|([\\`*_[\]~|#])|[&<>$]/g
const BREAK = "&#8203;"

/** What starts a block at the beginning of a line; `/` would start a command of some other bot. */
const BLOCK_START = /^(?:[-+=:/]|\d{1,9}(?=[.)]))/

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "&#64;", $: "&#36;" }

/**
 * Text as one line of inline Markdown that shows exactly these words: no markup, HTML, link, image, mention or reference, and unseen
 * characters spelled out. Only inline code in single backticks keeps its look.
 */
export function inlineMarkdown(text: string): string {
  return markdownLine(text.replace(/\s+/g, " ").trim())
}

/**
 * Text as Markdown paragraphs, equally inert. Closed code fences become preformatted blocks; an open one is text like any other.
 */
export function blockMarkdown(text: string): string {
  const lines = text.replaceAll("\r\n", "\n").split("\n")
  const blocks: string[] = []
  let paragraph: string[] = []
  const endParagraph = () => {
    if (paragraph.length > 0) blocks.push(paragraph.join("\n"))
    paragraph = []
  }
  for (let index = 0; index < lines.length; index++) {
    const line = (lines[index] ?? "").trim()
    const end = closingFence(lines, index)
    if (end !== null) {
      endParagraph()
      blocks.push(preformatted(lines.slice(index + 1, end).join("\n")))
      index = end
    } else if (line === "") endParagraph()
    else paragraph.push(markdownLine(line))
  }
  endParagraph()
  return blocks.join("\n\n")
}

/** Text as an HTML block in which GitHub interprets nothing. */
export function preformatted(text: string): string {
  return `<pre>${spellUnseen(text).replace(/[&<>@]/g, entity)}</pre>`
}

/** Index of the line that closes the fence which line `index` opens, or null when it opens none or it stays open. */
function closingFence(lines: readonly string[], index: number): number | null {
  const fence = /^ {0,3}(`{3,})[^`]*$/.exec(lines[index] ?? "")?.[1]
  if (fence === undefined) return null
  const end = lines.findIndex((line, at) => at > index && line.trim() === fence)
  return end === -1 ? null : end
}

function markdownLine(line: string): string {
  return withInlineCode(line).replace(BLOCK_START, (start) => (/\d/.test(start) ? `${start}\\` : `\\${start}`))
}

function withInlineCode(line: string): string {
  return line
    .split(/`([^`]+)`/)
    .map((part, index) => (index % 2 === 1 ? `<code>${escapeText(part)}</code>` : escapeText(part)))
    .join("")
}

function escapeText(text: string): string {
  return spellUnseen(text).replace(SPECIAL, (match, live?: string, mark?: string) => {
    if (live !== undefined) return `${live === "#" ? "\\#" : live}${BREAK}`
    return mark === undefined ? entity(match) : `\\${mark}`
  })
}

function spellUnseen(text: string): string {
  return text.replace(UNSEEN, (character) => `\\u{${character.codePointAt(0)?.toString(16).toUpperCase()}}`)
}

function entity(character: string): string {
  return ENTITIES[character] ?? character
}
