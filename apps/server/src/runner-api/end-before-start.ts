import { errorCode, GalleyError } from "@galley/contract/errors"
import { noUsage } from "@galley/contract/usage"
import type { ClaimedLease } from "@galley/store/queue/claim-jobs"
import type { ServerContext } from "../context.ts"
import { endAttempt } from "./end-attempt.ts"

/**
 * Ends a lease that could not be completed. A fault nobody foresaw counts like a runner's; everything else but an outage of GitHub, e.g. a
 * finding state that cannot be read, would end the same way again.
 */
export async function endBeforeStart({ store, log }: ServerContext, claimed: ClaimedLease, error: unknown): Promise<void> {
  const code = errorCode(error)
  log.warn({ jobId: claimed.jobId, code, err: error }, "the lease could not be completed")
  const known = error instanceof GalleyError ? error : null
  const retryAfterSeconds = known?.details.retryAfterSeconds
  await endAttempt(store, claimed, claimed.attempt, {
    code,
    detail: known?.message ?? "",
    retryable: code === "internal_error",
    usage: noUsage,
    ...(typeof retryAfterSeconds === "number" && { retryAfterSeconds }),
  })
}
