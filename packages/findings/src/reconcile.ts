import type { Coverage } from "@galley/contract/coverage"
import { GalleyError } from "@galley/contract/errors"
import type { EngineFinding, FindingRecord, FindingState } from "@galley/contract/finding"
import type { ReviewKind } from "@galley/contract/settings"
import { matchPrior, type ReportedFinding, uidOf } from "./finding-identity.ts"
import {
  changedRecord,
  confirmedRecord,
  ownerOf,
  type RunStamp,
  reportedRecord,
  resolvedRecord,
  type StoredText,
} from "./finding-record.ts"
import type { HeadFacts } from "./head-facts.ts"
import { excludedFiles, fitActive, fitResolved } from "./state-budget.ts"

export type ReconcileInput = Readonly<{
  /** Null before the first review. */
  prior: FindingState | null
  kind: ReviewKind
  /** Validated findings and their fingerprints (`validateFindings`). */
  kept: readonly EngineFinding[]
  fingerprints: readonly string[]
  /** Fingerprints the engine reported but which did not hold: not absent. */
  droppedIds: readonly string[]
  /** Uids the engine names as resolved and as still there (Dynamic Review). */
  resolvedIds: readonly string[]
  confirmedIds: readonly string[]
  /** The engine's own word that it left nothing out; policy omissions are in `coverage`. */
  engineComplete: boolean
  head: HeadFacts
  coverage: Coverage
  runId: string
  /** ISO time in UTC. */
  now: string
}>

export type Reconciliation = Readonly<{
  state: FindingState
  active: readonly FindingRecord[]
  /** Kept ones, sorted by `finding_id` like `active`. */
  resolved: readonly FindingRecord[]
  newCount: number
  reopenedCount: number
  /** Resolved by this run. */
  resolvedCount: number
  /** Old resolved records left out of the state for want of room. */
  forgottenCount: number
}>

/**
 * The next finding state from the prior one and a run. Pure.
 *
 * - A record stays active unless there is affirmative evidence; active records are never dropped.
 * - Absence resolves only records of Diff Review (`ownerOf`), so switching kinds loses nothing; affirmative evidence resolves any.
 * - Dynamic: the engine names the id, and the path is gone, or it was examined and differs from when the finding was last confirmed.
 * - Diff: the finding is missing from a run which the engine calls complete, at a new head, and its path was covered.
 * - A resolved record reported again is reopened and keeps its `resolved_*` keys. Unknown keys are kept at every level.
 * - Resolved records are kept newest first, as far as the state's budget goes.
 */
export function reconcile(input: ReconcileInput): Reconciliation {
  const run: RunStamp = { kind: input.kind, headSha: input.head.headSha, runId: input.runId, now: input.now }
  const prior = input.prior?.findings ?? []
  const reported = distinctReports(input)
  const matches = matchPrior(reported, prior, new Set([...input.resolvedIds, ...input.confirmedIds]))
  const matched = new Set(matches)
  const unreported = prior.filter((record) => !matched.has(record)).map((record) => next(record, input, run))
  const build = (text: StoredText) => reported.map((report, index) => reportedRecord(matches[index] ?? null, report, run, text))
  const active = fitActive(
    build,
    unreported.filter((record) => record.state === "ACTIVE"),
  )
  const { kept: resolved, forgotten } = fitResolved(
    active,
    unreported.filter((record) => record.state === "RESOLVED"),
  )
  const wasActive = new Set(prior.filter((record) => record.state === "ACTIVE").map((record) => record.finding_id))
  const wasResolved = new Set(prior.filter((record) => record.state === "RESOLVED").map((record) => record.finding_id))
  return {
    state: { ...input.prior, schema_version: 1, findings: byId([...active, ...resolved]), last_run: lastRun(input) },
    active: byId(active),
    resolved: byId(resolved),
    newCount: matches.filter((match) => match === null).length,
    reopenedCount: active.filter((record) => wasResolved.has(record.finding_id)).length,
    resolvedCount: unreported.filter((record) => record.state === "RESOLVED" && wasActive.has(record.finding_id)).length,
    forgottenCount: forgotten,
  }
}

function distinctReports(input: ReconcileInput): ReportedFinding[] {
  const reports = new Map<string, ReportedFinding>()
  for (const [index, finding] of input.kept.entries()) {
    const fingerprint = input.fingerprints[index]
    if (fingerprint === undefined) throw new GalleyError("internal_error", "a kept finding has no fingerprint")
    reports.set(fingerprint, { finding, fingerprint })
  }
  return [...reports.values()]
}

/** What becomes of a prior record that no finding of this run continues. */
function next(record: FindingRecord, input: ReconcileInput, run: RunStamp): FindingRecord {
  if (isConfirmed(record, input)) return confirmedRecord(record, run)
  if (record.state === "RESOLVED") return record
  const resolves = input.kind === "dynamic" ? isResolvedByName(record, input) : isResolvedByAbsence(record, input)
  if (resolves) return resolvedRecord(record, run)
  return pathChanged(record, input) ? changedRecord(record) : record
}

function isConfirmed(record: FindingRecord, input: ReconcileInput): boolean {
  return (
    input.confirmedIds.includes(uidOf(record)) &&
    input.coverage.examinedPaths.includes(record.path) &&
    input.head.headPaths.has(record.path)
  )
}

/** Dynamic Review: any record it names, when the code at the path is provably another than when the finding was last confirmed. */
function isResolvedByName(record: FindingRecord, input: ReconcileInput): boolean {
  if (!input.resolvedIds.includes(uidOf(record))) return false
  if (!input.head.headPaths.has(record.path)) return true
  const changed = pathChanged(record, input) || (input.head.comparison.kind === "exact" && record.x?.changed_since_seen === true)
  return changed && input.coverage.examinedPaths.includes(record.path)
}

/** Diff Review: its own record, missing from a whole review of other code. */
function isResolvedByAbsence(record: FindingRecord, input: ReconcileInput): boolean {
  if (ownerOf(record) !== "diff" || !input.engineComplete || !isNewHead(record, input)) return false
  const ids = [record.finding_id, ...(record.x?.aliases ?? [])]
  if (ids.some((id) => input.droppedIds.includes(id))) return false
  return isCovered(record, input)
}

function isNewHead(record: FindingRecord, input: ReconcileInput): boolean {
  const { headSha, comparison } = input.head
  const previous = input.prior?.last_run?.head_sha || (comparison.kind === "none" ? "" : comparison.previousHeadSha)
  return previous !== "" && previous !== headSha && record.last_seen_head_sha !== headSha
}

/** The model saw the path, or it is gone, or this push took it out of the change. */
function isCovered(record: FindingRecord, input: ReconcileInput): boolean {
  if (input.coverage.examinedPaths.includes(record.path) || !input.head.headPaths.has(record.path)) return true
  return pathChanged(record, input) && !input.head.changedFiles.some((file) => file.path === record.path)
}

function pathChanged(record: FindingRecord, input: ReconcileInput): boolean {
  const { comparison } = input.head
  return comparison.kind === "exact" && comparison.changedPaths.has(record.path)
}

function lastRun(input: ReconcileInput): FindingState["last_run"] {
  const complete = input.engineComplete && input.coverage.status === "complete"
  return {
    ...input.prior?.last_run,
    head_sha: input.head.headSha,
    complete,
    kind: complete ? "full" : "partial",
    run_id: input.runId,
    excluded_files: excludedFiles(input.coverage),
  }
}

function byId(records: readonly FindingRecord[]): FindingRecord[] {
  return [...records].sort((a, b) => (a.finding_id < b.finding_id ? -1 : 1))
}
