import type { Coverage } from "@galley/contract/coverage"
import { clipText } from "./clip-text.ts"
import { inlineMarkdown } from "./escape-markdown.ts"
import { omissionWords } from "./omission-words.ts"

const MAX_PATH_BYTES = 240

/** What was examined, what of the change was left out and why (at most `limit` rows), and how many findings did not hold. */
export function coverageSection(
  coverage: Coverage,
  dropped: readonly Readonly<{ reason: string; count: number }>[],
  limit: number,
): string {
  const outside = coverage.omitted.total - leftOut(coverage)
  const parts = [
    `### Coverage: ${coverage.status}`,
    `${coverage.reviewedFiles} of ${coverage.changedFiles} changed files were examined.${coverage.status === "partial" ? " What was not examined is not judged, and no finding there is resolved." : ""}`,
    leftOut(coverage) > 0 ? omissionTable(coverage, limit) : "",
    outside > 0 ? `${outside} other files of the repository were not readable for the engine.` : "",
    droppedSentence(dropped),
  ]
  return parts.filter((part) => part !== "").join("\n\n")
}

function leftOut(coverage: Coverage): number {
  return coverage.changedFiles - coverage.reviewedFiles
}

function omissionTable(coverage: Coverage, limit: number): string {
  const shown = coverage.omitted.omissions.filter((omission) => omission.changed).slice(0, limit)
  const rows = shown.map(({ path, reason }) => `| ${inlineMarkdown(clipText(path, MAX_PATH_BYTES))} | ${omissionWords[reason]} |`)
  const more = leftOut(coverage) - shown.length
  const table = rows.length === 0 ? [] : [["| Left out | Reason |", "|---|---|", ...rows].join("\n")]
  const rest = more > 0 ? [`and ${more} more`] : []
  return [`<details>\n<summary>Left out (${leftOut(coverage)})</summary>`, ...table, ...rest, "</details>"].join("\n\n")
}

function droppedSentence(dropped: readonly Readonly<{ reason: string; count: number }>[]): string {
  if (dropped.length === 0) return ""
  const total = dropped.reduce((sum, { count }) => sum + count, 0)
  const reasons = dropped.map(({ reason, count }) => `${count} ${inlineMarkdown(reason.replaceAll("_", " "))}`).join(", ")
  return `${total} reported ${total === 1 ? "finding was" : "findings were"} not taken over: ${reasons}.`
}
