import type { GalleyErrorCode } from "@galley/contract/errors"
import type { Store } from "../database.ts"
import { inTransaction } from "../transaction.ts"
import type { LeaseProof } from "./lease-token.ts"
import { type SettledJob, settleAttempt } from "./settle-attempt.ts"

/**
 * Gives a job back for `delayMs` because something outside was not there (GitHub is down, or asks to wait). Nothing was tried, so no attempt
 * is counted. Throws `lease_lost`.
 */
export async function postponeJob(
  store: Store,
  proof: LeaseProof,
  reason: { code: GalleyErrorCode; detail: string; delayMs: number },
): Promise<SettledJob> {
  return inTransaction(store, (tx) => settleAttempt(tx, proof, { ...reason, outcome: "released", counted: false, retryable: true }))
}
