import { GalleyError } from "@galley/contract/errors"
import type { FindingRecord, FindingState } from "@galley/contract/finding"
import { MARKER, serialiseState, stateBlock } from "./comment-state.ts"
import { newestFirst } from "./finding-record.ts"

/** UTF-16 code units of the virtual comment; PR-Agent adds its own text to it and gives up its state near 65,000. */
const MAX_CHARACTERS = 49_500
/** PR-Agent keeps no more. */
const MAX_RESOLVED = 20

/**
 * The state PR-Agent is shown as its own earlier one: all active records of both engines and the newest resolved ones, as many as fit.
 * The empty `last_run.head_sha` makes it unable to resolve anything by absence; that decision is ours (`reconcile`). The extension `x`
 * stays behind: PR-Agent shows it to no model.
 *
 * Throws `finding_state_too_large` when the active records alone are too large.
 */
export function virtualState(state: FindingState | null): FindingState {
  const records = (state?.findings ?? []).map(({ x: _, ...record }): FindingRecord => record)
  const active = records.filter((record) => record.state === "ACTIVE")
  const resolved = records
    .filter((record) => record.state === "RESOLVED")
    .sort(newestFirst)
    .slice(0, MAX_RESOLVED)
  for (let count = resolved.length; count >= 0; count--) {
    const findings = [...active, ...resolved.slice(0, count)]
    const candidate: FindingState = { schema_version: 1, findings, last_run: { head_sha: "" } }
    if (serialiseState(candidate).length <= MAX_CHARACTERS) return candidate
  }
  throw new GalleyError("finding_state_too_large", "the active findings do not fit PR-Agent's state")
}

/** The whole comment PR-Agent is told to edit: its marker, and `virtualState` in its block. Throws `finding_state_too_large`. */
export function virtualComment(state: FindingState | null): string {
  return `## PR Reviewer Guide\n\n${MARKER}\n\n${stateBlock(virtualState(state))}`
}
