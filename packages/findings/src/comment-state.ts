import { createHash } from "node:crypto"
import { GalleyError } from "@galley/contract/errors"
import { FindingState } from "@galley/contract/finding"
import { canonicalJson } from "./canonical-json.ts"
import { uidOf } from "./finding-identity.ts"

/** PR-Agent's identity marker of a full review: a line of its own within the first five. */
export const MARKER = "<!-- pr-agent:review:full -->"
const MARKER_LINES = 5

const NAMESPACE = "<!-- pr-agent-review-state"
const OPENER = `${NAMESPACE}:v1`
const CLOSER = "-->"

/** GitHub keeps at most 65,536 characters; one may take two code units. */
const MAX_BODY_LENGTH = 131_072
const MAX_RECORDS = 1_000

/** True when the comment carries the identity marker. Authorship is for the caller to check. */
export function isGalleyComment(body: string): boolean {
  return body
    .slice(0, MAX_BODY_LENGTH)
    .split("\n", MARKER_LINES)
    .some((line) => line.trim() === MARKER)
}

/**
 * Reads the finding state of a summary comment; null when the body has no marker, or no state block at all (stock PR-Agent writes
 * none for a first review without findings). Text before the block is never trusted: only the block that ends the body counts.
 *
 * Throws `finding_state_too_large` for a body GitHub could not hold or more than 1,000 records, and `finding_state_invalid` for
 * whatever else is not exactly one valid version 1 block.
 */
export function parseComment(body: string): { state: FindingState } | null {
  if (!isGalleyComment(body)) return null
  if (body.length > MAX_BODY_LENGTH) throw new GalleyError("finding_state_too_large", "the summary comment is too large")
  if (!body.includes(NAMESPACE)) return null
  return { state: parseState(stateLine(body)) }
}

/** The JSON line of the block at the end. A block quoted by a finding is inside that line, so an opener line occurs once. */
function stateLine(body: string): string {
  const lines = body.replaceAll("\r\n", "\n").trimEnd().split("\n")
  const [opener, json, closer] = lines.slice(-3)
  if (opener !== OPENER || json === undefined || closer !== CLOSER) throw invalid("the comment does not end with a version 1 state block")
  if (lines.filter((line) => line.trimStart().startsWith(NAMESPACE)).length > 1) throw invalid("the comment has more than one state block")
  return json
}

function parseState(json: string): FindingState {
  const value = parseJson(json)
  if (hasTooManyRecords(value)) throw new GalleyError("finding_state_too_large", `the finding state has more than ${MAX_RECORDS} records`)
  const parsed = FindingState.safeParse(value)
  if (!parsed.success) throw invalid("the finding state does not match its schema", parsed.error)
  requireUnique(parsed.data.findings.map((record) => record.finding_id))
  requireUnique(parsed.data.findings.map(uidOf))
  canonicalJson(parsed.data)
  return parsed.data
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch (cause) {
    throw invalid("the finding state is not JSON", cause)
  }
}

function hasTooManyRecords(value: unknown): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    "findings" in value &&
    Array.isArray(value.findings) &&
    value.findings.length > MAX_RECORDS
  )
}

function requireUnique(ids: readonly string[]): void {
  if (new Set(ids).size !== ids.length) throw invalid("the finding state names an id twice")
}

function invalid(message: string, cause?: unknown): GalleyError {
  return new GalleyError("finding_state_invalid", message, { cause })
}

/** Characters that could end the hidden block, end a line for some reader, or mean something to whoever scans raw comments. */
const ESCAPED = /[<>@\x7f-\x9f\u2028\u2029]/g

/** The state as one line of JSON with sorted keys, in which nothing can close an HTML comment or mention anybody. */
export function serialiseState(state: FindingState): string {
  return canonicalJson(state).replace(ESCAPED, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)
}

/** The hidden block which ends a summary comment. */
export function stateBlock(state: FindingState): string {
  return `${OPENER}\n${serialiseState(state)}\n${CLOSER}\n`
}

/** SHA-256 (64 hex digits) over the canonical JSON: equal for equal states, however they were spelled. */
export function stateDigest(state: FindingState): string {
  return createHash("sha256").update(canonicalJson(state)).digest("hex")
}
