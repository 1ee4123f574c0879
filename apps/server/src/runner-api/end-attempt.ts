import type { LeaseFailure } from "@galley/contract/protocol"
import type { Store } from "@galley/store/database"
import { failJob } from "@galley/store/queue/fail-job"
import type { LeaseProof } from "@galley/store/queue/lease-token"
import { postponeJob } from "@galley/store/queue/postpone-job"

const FIRST_WAIT_MS = 15_000
const LONGEST_WAIT_MS = 900_000

/** Why an attempt ended without a result. */
export type AttemptFault = Omit<LeaseFailure, "fence"> &
  Readonly<{
    /** What GitHub asked for, when it did. */
    retryAfterSeconds?: number
  }>

/**
 * Milliseconds after which a job is leased again that GitHub was in the way of, or null when waiting does not help. Pure.
 *
 * @param attempt leases of the job so far, this one included; the wait doubles with each unless GitHub names it
 */
export function waitForGitHub(
  { code, retryAfterSeconds }: Pick<AttemptFault, "code" | "retryAfterSeconds">,
  attempt: number,
): number | null {
  if (code !== "github_unavailable" && code !== "github_rate_limited") return null
  if (retryAfterSeconds !== undefined) return retryAfterSeconds * 1_000
  return Math.min(FIRST_WAIT_MS * 2 ** (attempt - 1), LONGEST_WAIT_MS)
}

/** Ends an attempt, whoever noticed the fault. An outage of GitHub costs no attempt, however long it lasts. @throws `lease_lost` */
export async function endAttempt(store: Store, proof: LeaseProof, attempt: number, fault: AttemptFault): Promise<void> {
  const { retryAfterSeconds: _, ...failure } = fault
  const delayMs = waitForGitHub(fault, attempt)
  if (delayMs === null) await failJob(store, proof, failure)
  else await postponeJob(store, proof, { ...failure, delayMs })
}
