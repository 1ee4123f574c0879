import type { Finding, FindingRecord } from "@galley/contract/finding"
import { clipText } from "./clip-text.ts"
import type { CommentInput, TextBudget } from "./comment-input.ts"
import { blockMarkdown, inlineMarkdown, preformatted } from "./escape-markdown.ts"
import { newestFirst } from "./finding-record.ts"
import { findingView, shaOrNull } from "./finding-view.ts"
import type { Reconciliation } from "./reconcile.ts"
import { blobAddress, repositoryAddress } from "./web-address.ts"

/** UTF-8 bytes shown of a title, a path and the rule references. */
const MAX_TITLE_BYTES = 200
const MAX_PATH_BYTES = 240
const MAX_RULES_BYTES = 300

/** All active findings, P0 first and unrated last. */
export function activeSection(active: readonly FindingRecord[], input: CommentInput, budget: TextBudget): string {
  if (active.length === 0) return ""
  const sorted = [...active].sort((a, b) => rank(a) - rank(b) || (b.x?.confidence ?? -1) - (a.x?.confidence ?? -1))
  if (budget.oneLine) return ["### Active findings", sorted.map(oneLine).join("\n")].join("\n\n")
  return ["### Active findings", ...sorted.map((record) => activeFinding(record, input, budget))].join("\n\n")
}

/** The resolved findings which the state still holds, newest first, at most `limit` of them. */
export function resolvedSection(reconciliation: Reconciliation, limit: number): string {
  const { resolved, forgottenCount } = reconciliation
  const total = resolved.length + forgottenCount
  if (total === 0) return ""
  const shown = [...resolved].sort(newestFirst).slice(0, limit)
  const items = shown.map((record) => {
    const sha = shaOrNull(record.resolved_head_sha)
    const { title, path } = findingView(record)
    return `- ${inline(title, MAX_TITLE_BYTES)} (${inline(path, MAX_PATH_BYTES)}${sha === null ? "" : `, resolved at \`${sha.slice(0, 7)}\``})`
  })
  if (total > shown.length) items.push(`- and ${total - shown.length} more`)
  return `<details>\n<summary>Resolved findings (${total})</summary>\n\n${items.join("\n")}\n\n</details>`
}

/** Place in the order P0, P1, P2, P3, unrated. */
function rank(record: FindingRecord): number {
  const priority = record.x?.priority ?? null
  return priority === null ? 4 : Number(priority.slice(1))
}

function oneLine(record: FindingRecord): string {
  const finding = findingView(record)
  return `- ${finding.priority ?? "Unrated"}: ${inline(finding.title, MAX_TITLE_BYTES)} (${placeText(finding)})`
}

function activeFinding(record: FindingRecord, input: CommentInput, budget: TextBudget): string {
  const finding = findingView(record)
  const parts = [
    `#### ${finding.priority ?? "Unrated"}: ${inline(finding.title, MAX_TITLE_BYTES)}`,
    [place(record, finding, input), ...remarks(finding, input)].join(" · "),
    blockMarkdown(clipText(finding.body, budget.bodyBytes)),
    budget.evidence ? evidence(finding) : "",
  ]
  return parts.filter((part) => part !== "").join("\n\n")
}

/** Path and lines, linked to the commit whose lines they are. */
function place(record: FindingRecord, finding: Finding, input: CommentInput): string {
  const text = placeText(finding)
  const sha = shaOrNull(record.x?.reviewed_sha ?? record.last_seen_head_sha)
  if (sha === null || (sha === input.reviewedSha && !input.headPaths.has(finding.path))) return text
  const address = blobAddress(repositoryAddress(input.pullRequestUrl), sha, finding.path, linesOf(finding))
  return address === null ? text : `[${text}](${address})`
}

function placeText(finding: Finding): string {
  const lines = linesOf(finding)
  const range = lines === null ? "" : lines.start === lines.end ? `:${lines.start}` : `:${lines.start}-${lines.end}`
  return inline(finding.path, MAX_PATH_BYTES) + range
}

/** Lines that can be shown; stored state may hold anything. */
function linesOf({ startLine: start, endLine: end }: Finding): { start: number; end: number } | null {
  return start === null || start < 1 ? null : { start, end: end === null || end < start ? start : end }
}

function remarks(finding: Finding, input: CommentInput): string[] {
  const isFirstHere = finding.firstSeenSha === input.reviewedSha
  const isConfirmed = finding.lastSeenSha === input.reviewedSha
  return [
    ...(isFirstHere ? ["first seen at this commit"] : []),
    ...(isConfirmed
      ? []
      : [`not confirmed by this review${finding.lastSeenSha === null ? "" : `, last seen at \`${finding.lastSeenSha.slice(0, 7)}\``}`]),
    ...(finding.priority === null ? ["priority not rated by the engine that found it"] : []),
    ...(finding.confidence === null ? [] : [`confidence ${finding.confidence.toFixed(2)}`]),
    ...(finding.rules.length === 0 ? [] : [`rules: ${inline(finding.rules.join(", "), MAX_RULES_BYTES)}`]),
  ]
}

function evidence(finding: Finding): string {
  if (finding.evidence.length === 0) return ""
  return ["<details>\n<summary>Evidence</summary>", ...finding.evidence.map(preformatted), "</details>"].join("\n\n")
}

function inline(text: string, maxBytes: number): string {
  return inlineMarkdown(clipText(text, maxBytes))
}
