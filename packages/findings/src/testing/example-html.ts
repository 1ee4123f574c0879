import { micromark } from "micromark"
import { gfm, gfmHtml } from "micromark-extension-gfm"

/** HTML of GitHub-flavoured Markdown as a conforming parser sees it, raw HTML included. For tests. */
export function githubHtml(markdown: string): string {
  return micromark(markdown, { allowDangerousHtml: true, allowDangerousProtocol: true, extensions: [gfm()], htmlExtensions: [gfmHtml()] })
}

/** Names of all opened elements. */
export function elementsOf(html: string): string[] {
  return [...html.matchAll(/<([a-z][a-z0-9]*)/gi)].map((match) => (match[1] ?? "").toLowerCase())
}

/** Text a reader sees, entities decoded. */
export function textOf(html: string): string {
  const decoded: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', amp: "&" }
  return html
    .replace(/<[^>]*>/g, "")
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
    .replace(/&(lt|gt|quot|amp);/g, (_, name: string) => decoded[name] ?? "")
}

/** What GitHub turns into a mention or a reference when it stands in rendered text outside code. */
export const LIVE_TEXT = /(?:^|[^\w`])@[a-z0-9][\w-]*|#\d+|\bGH-\d+|:\/\/|\bwww\./i
