import { GalleyError } from "@galley/contract/errors"
import type { EngineFinding, FindingState } from "@galley/contract/finding"
import { fingerprint } from "@galley/findings/finding-identity"
import { z } from "zod"

const MAX_TITLE_CHARACTERS = 80
const MAX_BODY_CHARACTERS = 8_000

/** White space at the ends as Python strips it. */
const OUTER_SPACE = /^(?:[^\S\ufeff]|[\x1c-\x1f\x85])+|(?:[^\S\ufeff]|[\x1c-\x1f\x85])+$/g
const Text = z
  .union([z.string(), z.number().transform(String)])
  .nullish()
  .transform((value) => (value ?? "").replace(OUTER_SPACE, ""))
/** PR-Agent takes a line number in any spelling and drops one that is none. */
const Line = z.unknown().transform((value) => (/^\s*\+?\d{1,9}\s*$/.test(String(value)) ? Number(value) || null : null))

/** One entry of `key_issues_to_review` in PR-Agent's record: the model's own values, trailing line breaks and all. */
const Issue = z.object({ relevant_file: Text, issue_header: Text, issue_content: Text, start_line: Line, end_line: Line })

/** Findings and PR-Agent's own id of each, in the same order. */
export type IssueFindings = Readonly<{ findings: readonly EngineFinding[]; fingerprints: readonly string[] }>

/**
 * Turns PR-Agent's issues into findings and finds the record of each in the state it wrote. An issue without file or text is no finding,
 * and the same issue twice is one, as for PR-Agent itself. It gives no priority, confidence, evidence or rule, so they stay empty.
 *
 * Throws `engine_output_invalid` when an issue has no active record: state and issues then speak of different runs.
 */
export function issueFindings(issues: readonly unknown[], state: FindingState): IssueFindings {
  const byFingerprint = new Map<string, EngineFinding>()
  for (const value of issues) {
    const issue = Issue.safeParse(value)
    if (!issue.success) throw new GalleyError("engine_output_invalid", "an issue of PR-Agent has values of unknown types")
    const path = issue.data.relevant_file.replace(/^`+|`+$/g, "").replace(/^\/+/, "")
    const content = issue.data.issue_content.replace(/```[ \t]*suggestion\b/gi, "```text")
    if (path === "" || content === "") continue
    const header = /^possible bug$/i.test(issue.data.issue_header) ? "Possible Issue" : issue.data.issue_header
    const id = recordedId(path, header === "" ? content : `**${header}**\n\n${content}`, state)
    if (!byFingerprint.has(id)) byFingerprint.set(id, finding(path, header, content, issue.data.start_line, issue.data.end_line))
  }
  return { findings: [...byFingerprint.values()], fingerprints: [...byFingerprint.keys()] }
}

/** Our fingerprint as a rule; PR-Agent's own where its Unicode version lower-cases a letter that ours does not, or the reverse. */
function recordedId(path: string, body: string, state: FindingState): string {
  const ours = fingerprint(path, body)
  const active = state.findings.filter((record) => record.state === "ACTIVE")
  const record =
    active.find((candidate) => candidate.finding_id === ours) ??
    active.find((candidate) => candidate.path === path && candidate.body === body)
  if (record === undefined) throw new GalleyError("engine_output_invalid", "an issue of PR-Agent has no record in the state it wrote")
  return record.finding_id
}

function finding(path: string, header: string, content: string, start: number | null, end: number | null): EngineFinding {
  const title = (header === "" ? content : header).replace(/\s+/g, " ")
  return {
    title: shorten(title, MAX_TITLE_CHARACTERS),
    body: shorten(content, MAX_BODY_CHARACTERS),
    path,
    startLine: start,
    endLine: start === null ? null : Math.max(start, end ?? start),
    priority: null,
    confidence: null,
    evidence: [],
    rules: [],
  }
}

/** At most `max` UTF-16 code units, a cut marked with "…" and never inside a character. */
function shorten(text: string, max: number): string {
  if (text.length <= max) return text
  const cut = text.slice(0, max - 1)
  return `${/[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut}…`
}
