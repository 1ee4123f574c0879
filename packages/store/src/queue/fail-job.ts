import type { LeaseFailure } from "@galley/contract/protocol"
import type { Store } from "../database.ts"
import { inTransaction } from "../transaction.ts"
import type { LeaseProof } from "./lease-token.ts"
import { type SettledJob, settleAttempt } from "./settle-attempt.ts"

/**
 * A runner could not finish. A retryable failure waits 15 s, then 60 s, and fails at the third attempt (`attempts_exhausted`); one that
 * is not fails at once. The last good comment stays. Throws `lease_lost`.
 */
export async function failJob(store: Store, proof: LeaseProof, failure: Omit<LeaseFailure, "fence">): Promise<SettledJob> {
  return inTransaction(store, (tx) =>
    settleAttempt(tx, proof, {
      outcome: "failed",
      code: failure.code,
      detail: failure.detail,
      counted: true,
      retryable: failure.retryable,
      usage: failure.usage,
    }),
  )
}
