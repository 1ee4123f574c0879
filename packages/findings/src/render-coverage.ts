import type { Coverage, OmissionReason } from "@galley/contract/coverage"
import { clipText } from "./clip-text.ts"
import { inlineMarkdown } from "./escape-markdown.ts"

const MAX_PATH_BYTES = 240

const REASONS: Readonly<Record<OmissionReason, string>> = {
  binary: "binary file",
  not_utf8: "not UTF-8 text",
  file_too_large: "file too large",
  line_too_long: "line too long",
  symlink: "symbolic link",
  submodule: "submodule",
  special_file: "special file",
  lfs_pointer: "Git LFS pointer",
  credential_like: "looks like a credential file",
  discovery_input: "engine configuration",
  path_unsafe: "unsafe path",
  path_too_long: "path too long",
  no_hunks: "no text changes to show",
  engine_filtered: "filtered by the engine",
  over_token_budget: "over the token budget",
}

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
  const rows = shown.map(({ path, reason }) => `| ${inlineMarkdown(clipText(path, MAX_PATH_BYTES))} | ${REASONS[reason]} |`)
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
