import type { GalleyErrorCode } from "@galley/contract/errors"

/** Faults of this runner, not of the job: another one, or this one when it was repaired, may well do it. */
const ownFaults: ReadonlySet<GalleyErrorCode> = new Set(["boundary_unavailable", "engine_missing", "engine_integrity"])

/**
 * Faults that may pass by themselves, so that the job is tried again. Everything else would end the same way and, after a model call, be paid
 * for again: bad input, a broken bound, an answer that was no result.
 */
const passing: ReadonlySet<GalleyErrorCode> = new Set([
  "checkout_fetch_failed",
  "github_unavailable",
  "github_rate_limited",
  "model_upstream_error",
  "model_rate_limited",
  "model_timeout",
  "engine_start_failed",
  "engine_start_timeout",
  "engine_crashed",
  "server_unreachable",
  "internal_error",
])

/** Whether another attempt at the job could end differently. */
export function isRetryable(code: GalleyErrorCode): boolean {
  return passing.has(code) || isOwnFault(code)
}

/** Whether the slot must prove itself again before it takes another job. */
export function isOwnFault(code: GalleyErrorCode): boolean {
  return ownFaults.has(code)
}
