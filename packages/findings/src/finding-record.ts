import type { FindingExtension, FindingRecord } from "@galley/contract/finding"
import type { ReviewKind } from "@galley/contract/settings"
import { clipText } from "./clip-text.ts"
import { dynamicBody, EVIDENCE_BYTES, fingerprint, type ReportedFinding, uidOf } from "./finding-identity.ts"

/** Aliases kept per record, newest last. */
const MAX_ALIASES = 8

/** The run a record is written by. `now` is an ISO time in UTC. */
export type RunStamp = Readonly<{ kind: ReviewKind; headSha: string; runId: string; now: string }>

/** How much text of a finding is stored. */
export type StoredText = Readonly<{ bodyBytes: number; quotes: number }>

/** The kind that last found or confirmed a record: absence from a Diff Review says something only of its own. Records without extension were written by stock PR-Agent. */
export function ownerOf(record: FindingRecord): ReviewKind {
  return record.x?.engine ?? "diff"
}

/** Sorts resolved records, the last resolved first. */
export function newestFirst(a: FindingRecord, b: FindingRecord): number {
  const [left, right] = [a.resolved_at ?? "", b.resolved_at ?? ""]
  if (left === right) return a.finding_id < b.finding_id ? -1 : 1
  return left > right ? -1 : 1
}

/** The record of a finding which this run reported: a new one, or `prior` brought up to date and reopened if it was resolved. */
export function reportedRecord(prior: FindingRecord | null, report: ReportedFinding, run: RunStamp, text: StoredText): FindingRecord {
  const { finding } = report
  const { line_start: _start, line_end: _end, ...kept } = prior ?? newRecord(report, run)
  const body = clipText(dynamicBody(finding.title, finding.body), text.bodyBytes)
  const known: Partial<FindingExtension> = prior === null ? {} : seenExtension(prior)
  const evidence = finding.evidence.slice(0, text.quotes).map((quote) => clipText(quote, EVIDENCE_BYTES))
  return {
    ...seenAgain({ ...kept, path: finding.path, body }, run),
    ...(finding.startLine !== null && { line_start: finding.startLine, line_end: finding.endLine ?? finding.startLine }),
    x: {
      ...known,
      v: 1,
      uid: prior === null ? report.fingerprint : uidOf(prior),
      engine: prior === null ? run.kind : ownerAfter(prior, run),
      title: finding.title,
      priority: finding.priority ?? known.priority ?? null,
      confidence: finding.confidence ?? known.confidence ?? null,
      evidence: evidence.length > 0 ? evidence : (known.evidence ?? []),
      rules: finding.rules.length > 0 ? finding.rules : (known.rules ?? []),
      aliases: aliases(kept.finding_id, [...(known.aliases ?? []), report.fingerprint, fingerprint(finding.path, body)]),
      ...(prior === null && { first_seen_head_sha: run.headSha }),
      reviewed_sha: run.headSha,
    },
  }
}

/** `prior` confirmed by its id: still there, reopened if it was resolved. Its lines stay those of the head that gave them. */
export function confirmedRecord(prior: FindingRecord, run: RunStamp): FindingRecord {
  return { ...seenAgain(prior, run), x: { ...seenExtension(prior), engine: ownerAfter(prior, run) } }
}

/** `prior`, not mentioned by a run at a head where its path differs from the previous one. */
export function changedRecord(prior: FindingRecord): FindingRecord {
  return { ...prior, x: { ...extensionOf(prior), changed_since_seen: true } }
}

/** `prior` resolved by this run. */
export function resolvedRecord(prior: FindingRecord, run: RunStamp): FindingRecord {
  return { ...prior, state: "RESOLVED", resolved_at: run.now, resolved_head_sha: run.headSha, resolution_run_id: run.runId }
}

function newRecord(report: ReportedFinding, run: RunStamp): FindingRecord {
  return { finding_id: report.fingerprint, state: "ACTIVE", body: "", path: report.finding.path, first_seen: run.now }
}

function seenAgain(record: FindingRecord, run: RunStamp): FindingRecord {
  return {
    ...record,
    state: "ACTIVE",
    last_seen: run.now,
    last_seen_head_sha: run.headSha,
    ...(record.state === "RESOLVED" && { reopened_at: run.now, reopened_count: (record.reopened_count ?? 0) + 1 }),
  }
}

/** Once Dynamic Review confirmed a record, absence in a diff run says nothing about it any more. */
function ownerAfter(prior: FindingRecord, run: RunStamp): ReviewKind {
  return run.kind === "dynamic" ? "dynamic" : ownerOf(prior)
}

function extensionOf(record: FindingRecord): FindingExtension {
  const lines = record.last_seen_head_sha === undefined ? {} : { reviewed_sha: record.last_seen_head_sha }
  return record.x ?? { v: 1, uid: uidOf(record), engine: "diff", ...lines }
}

function seenExtension(record: FindingRecord): FindingExtension {
  const { changed_since_seen: _, ...extension } = extensionOf(record)
  return extension
}

function aliases(findingId: string, fingerprints: readonly string[]): string[] {
  return [...new Set(fingerprints)].filter((alias) => alias !== findingId).slice(-MAX_ALIASES)
}
