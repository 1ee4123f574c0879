import { createHash } from "node:crypto"
import type { EngineFinding, FindingRecord, FindingState } from "@galley/contract/finding"
import { clipText } from "./clip-text.ts"

/** What Python takes for white space; JavaScript's `\s` differs in U+001C to U+001F, U+0085 and U+FEFF. */
const SPACE = "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]"
const SPACES = new RegExp(`${SPACE}+`, "g")
const OUTER_SPACES = new RegExp(`^${SPACE}+|${SPACE}+$`, "g")

/** Bytes of one quote that are stored and compared. */
export const EVIDENCE_BYTES = 160
/** A shorter quote (a lone brace) says nothing about which defect is meant. */
const MIN_EVIDENCE_LENGTH = 8

/** A finding of this run with its fingerprint. */
export type ReportedFinding = Readonly<{ finding: EngineFinding; fingerprint: string }>

/**
 * PR-Agent's id of a finding: 12 hex digits over path and body, blind to white space, letter case and line numbers. Compute it for
 * reported findings only: the id of a stored record never changes, and Unicode versions differ in lower case.
 */
export function fingerprint(path: string, body: string): string {
  const place = trim(path)
    .replace(/^`+|`+$/g, "")
    .replace(/^\/+/, "")
  return createHash("sha256")
    .update(`${place}|${fold(body)}`)
    .digest("hex")
    .slice(0, 12)
}

/** The stable id of a record: its own, or (written by stock PR-Agent) one derived from `finding_id`. At most 64 characters. */
export function uidOf(record: FindingRecord): string {
  if (record.x !== undefined) return record.x.uid
  return record.finding_id.length <= 64 ? record.finding_id : createHash("sha256").update(record.finding_id).digest("hex")
}

/** Every fingerprint under which a finding of this state may be reported again. */
export function knownIds(state: FindingState | null): ReadonlySet<string> {
  return new Set((state?.findings ?? []).flatMap((record) => [record.finding_id, ...(record.x?.aliases ?? [])]))
}

/** Body of a record as PR-Agent spells it, `**Title**\n\ntext`, so that PR-Agent repeating it arrives at the same fingerprint. */
export function dynamicBody(title: string, body: string): string {
  const header = trim(title.replace(/[*\n\r]+/g, " ").replace(SPACES, " "))
  const text = trim(body.replace(/```[ \t]*suggestion\b/gi, "```text"))
  if (header === "") return text
  return trim(`**${header.toLowerCase() === "possible bug" ? "Possible Issue" : header}**\n\n${text}`)
}

/**
 * Finds for each reported finding the prior record it continues, or null when it is new. Same id first, then alias, then (reworded or
 * moved) the same path with matching evidence. A record is matched once. Under another title, evidence counts only for a record which
 * the engine did not name itself: an engine that does tells it apart from the finding it reports.
 *
 * @param named uids the engine named as confirmed or resolved
 */
export function matchPrior(
  reported: readonly ReportedFinding[],
  prior: readonly FindingRecord[],
  named: ReadonlySet<string>,
): readonly (FindingRecord | null)[] {
  const rules: readonly ((report: ReportedFinding, record: FindingRecord) => boolean)[] = [
    (report, record) => record.finding_id === report.fingerprint,
    (report, record) => record.x?.aliases?.includes(report.fingerprint) === true,
    (report, record) => sameTitle(report.finding, record) && sameEvidence(report.finding, record),
    (report, record) => !named.has(uidOf(record)) && sameEvidence(report.finding, record),
  ]
  const candidates = [...prior].sort((a, b) => Number(a.state === "RESOLVED") - Number(b.state === "RESOLVED"))
  const matches: (FindingRecord | null)[] = reported.map(() => null)
  const taken = new Set<FindingRecord>()
  for (const rule of rules) {
    for (const [index, report] of reported.entries()) {
      if (matches[index] !== null) continue
      const match = candidates.find((record) => !taken.has(record) && rule(report, record))
      if (match === undefined) continue
      matches[index] = match
      taken.add(match)
    }
  }
  return matches
}

function sameTitle(finding: EngineFinding, record: FindingRecord): boolean {
  return record.x?.title !== undefined && fold(record.x.title) === fold(finding.title)
}

/** True when the quotes of the shorter list are all in the longer one. */
function sameEvidence(finding: EngineFinding, record: FindingRecord): boolean {
  if (record.path !== finding.path) return false
  const [fewer, more] = [evidenceKeys(finding.evidence), evidenceKeys(record.x?.evidence ?? [])].sort((a, b) => a.size - b.size)
  return fewer !== undefined && more !== undefined && fewer.size > 0 && [...fewer].every((key) => more.has(key))
}

function evidenceKeys(quotes: readonly string[]): ReadonlySet<string> {
  return new Set(quotes.map((quote) => trim(fold(clipText(quote, EVIDENCE_BYTES)))).filter((key) => key.length >= MIN_EVIDENCE_LENGTH))
}

function fold(text: string): string {
  return text.replace(SPACES, " ").toLowerCase()
}

function trim(text: string): string {
  return text.replace(OUTER_SPACES, "")
}
