import { errorCode, GalleyError } from "@galley/contract/errors"
import { noUsage } from "@galley/contract/usage"
import type { ClaimedLease } from "@galley/store/queue/claim-jobs"
import { failJob } from "@galley/store/queue/fail-job"
import { postponeJob } from "@galley/store/queue/postpone-job"
import type { ServerContext } from "../context.ts"

const FIRST_WAIT_MS = 15_000
const LONGEST_WAIT_MS = 900_000

/**
 * Milliseconds after which a job is leased again that GitHub was in the way of, or null when waiting does not help. Pure.
 *
 * @param attempt leases of the job so far, this one included; the wait doubles with each unless GitHub names it
 */
export function waitForGitHub(error: unknown, attempt: number): number | null {
  if (!(error instanceof GalleyError)) return null
  if (error.code === "github_rate_limited" && typeof error.details.retryAfterSeconds === "number") {
    return error.details.retryAfterSeconds * 1_000
  }
  if (error.code !== "github_unavailable") return null
  return Math.min(FIRST_WAIT_MS * 2 ** (attempt - 1), LONGEST_WAIT_MS)
}

/**
 * Ends a lease that could not be completed. An outage of GitHub costs no attempt, however long it lasts; a fault nobody foresaw counts like
 * a runner's; everything else, e.g. a finding state that cannot be read, would end the same way again.
 */
export async function endBeforeStart(context: ServerContext, claimed: ClaimedLease, error: unknown): Promise<void> {
  const code = errorCode(error)
  const detail = error instanceof GalleyError ? error.message : ""
  context.log.warn({ jobId: claimed.jobId, code, err: error }, "the lease could not be completed")
  const delayMs = waitForGitHub(error, claimed.attempt)
  if (delayMs !== null) await postponeJob(context.store, claimed, { code, detail, delayMs })
  else await failJob(context.store, claimed, { code, detail, retryable: code === "internal_error", usage: noUsage })
}
