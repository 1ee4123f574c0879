import type { Store } from "../database.ts"
import { inTransaction } from "../transaction.ts"
import type { LeaseProof } from "./lease-token.ts"
import { type SettledJob, settleAttempt } from "./settle-attempt.ts"

/** A runner that drains gives its job back: it waits again at once and no attempt is counted. Throws `lease_lost`. */
export async function releaseJob(store: Store, proof: LeaseProof): Promise<SettledJob> {
  return inTransaction(store, (tx) =>
    settleAttempt(tx, proof, { outcome: "released", code: null, detail: null, counted: false, retryable: true }),
  )
}
