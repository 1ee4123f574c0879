import type { EngineFinding } from "@galley/contract/finding"
import { dynamicBody, fingerprint, type ReportedFinding } from "./finding-identity.ts"
import type { HeadFacts } from "./head-facts.ts"

/** Why a finding is not taken over. */
export type DropReason = "path_unknown" | "lines_invalid" | "lines_outside_file" | "outside_change" | "duplicate" | "over_limit"

export type ValidationOptions = Readonly<{
  maxFindings: number
  /** PR-Agent's own fingerprint per finding, in the same order; computed when null or left out. */
  fingerprints?: readonly string[] | null
  /** Fingerprints of prior records (`knownIds`): only a new finding must overlap the change. */
  knownIds?: ReadonlySet<string>
}>

export type ValidatedFindings = Readonly<{
  /** By priority, then confidence, then the engine's order; unrated ones last. */
  kept: readonly EngineFinding[]
  /** Fingerprints of `kept`, in the same order. */
  fingerprints: readonly string[]
  dropped: readonly Readonly<{ reason: DropReason; count: number }>[]
  /** Fingerprints of the dropped findings: reported, so not absent. */
  droppedIds: readonly string[]
}>

/**
 * Checks the findings of an engine against the tree: a place must exist at the head and, for a new finding, overlap the change.
 * A finding about a file which the change removed, or whose lines cannot be known, is kept without lines.
 */
export function validateFindings(findings: readonly EngineFinding[], head: HeadFacts, options: ValidationOptions): ValidatedFindings {
  const kept: ReportedFinding[] = []
  const dropped: (ReportedFinding & { reason: DropReason })[] = []
  const seen = new Set<string>()
  const reported = findings
    .map((finding, index) => ({ finding, fingerprint: options.fingerprints?.[index] ?? fingerprintOf(finding) }))
    .sort((a, b) => rank(a.finding) - rank(b.finding) || (b.finding.confidence ?? -1) - (a.finding.confidence ?? -1))
  for (const report of reported) {
    const placed = placeFinding(report.finding, head, options.knownIds?.has(report.fingerprint) === true)
    const reason = typeof placed === "string" ? placed : seen.has(report.fingerprint) ? "duplicate" : null
    if (reason !== null) dropped.push({ ...report, reason })
    else if (kept.length >= options.maxFindings) dropped.push({ ...report, reason: "over_limit" })
    else if (typeof placed !== "string") kept.push({ ...report, finding: placed })
    if (reason === null) seen.add(report.fingerprint)
  }
  return {
    kept: kept.map((report) => report.finding),
    fingerprints: kept.map((report) => report.fingerprint),
    dropped: countReasons(dropped.map((report) => report.reason)),
    droppedIds: dropped.map((report) => report.fingerprint),
  }
}

function fingerprintOf(finding: EngineFinding): string {
  return fingerprint(finding.path, dynamicBody(finding.title, finding.body))
}

/** Place in the order P0, P1, P2, P3, unrated. */
function rank(finding: EngineFinding): number {
  return finding.priority === null ? 4 : Number(finding.priority.slice(1))
}

/** The finding with a place that holds, or why it has none. */
function placeFinding(finding: EngineFinding, head: HeadFacts, known: boolean): EngineFinding | DropReason {
  const change = head.changedFiles.find((file) => file.path === finding.path)
  const withoutLines = { ...finding, startLine: null, endLine: null }
  if (!head.headPaths.has(finding.path)) return change?.status === "removed" ? withoutLines : "path_unknown"
  if (change === undefined && !known) return "outside_change"
  const lineCount = head.lineCounts.get(finding.path)
  if (finding.startLine === null || lineCount === undefined) return withoutLines
  const start = finding.startLine
  const end = finding.endLine ?? start
  if (start < 1 || end < start) return "lines_invalid"
  if (end > lineCount) return "lines_outside_file"
  const overlaps = change?.changedLines.some((lines) => lines.start <= end && start <= lines.end) === true
  return overlaps || known ? { ...finding, endLine: end } : "outside_change"
}

function countReasons(reasons: readonly DropReason[]): { reason: DropReason; count: number }[] {
  const counts = new Map<DropReason, number>()
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  return [...counts].map(([reason, count]) => ({ reason, count }))
}
