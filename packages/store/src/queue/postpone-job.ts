import type { Usage } from "@galley/contract/usage"
import type { Store } from "../database.ts"
import { inTransaction } from "../transaction.ts"
import type { LeaseProof } from "./lease-token.ts"
import { type SettledJob, settleAttempt } from "./settle-attempt.ts"

/**
 * Gives a job back for `delayMs` because something outside was not there (GitHub is down, or asks to wait). No attempt is counted; what the
 * attempt used up all the same stays with the job. Throws `lease_lost`.
 */
export async function postponeJob(
  store: Store,
  proof: LeaseProof,
  reason: { code: string; detail: string; delayMs: number; usage: Usage },
): Promise<SettledJob> {
  return inTransaction(store, (tx) => settleAttempt(tx, proof, { ...reason, outcome: "released", counted: false, retryable: true }))
}
