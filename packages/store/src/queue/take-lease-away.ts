import type { Store } from "../database.ts"
import { inTransaction } from "../transaction.ts"
import type { LeaseProof } from "./lease-token.ts"
import { lockLease } from "./lock-lease.ts"
import { settleLocked } from "./settle-attempt.ts"

/** Gives the job of a lease back because its runner was removed: no attempt is counted. A lease that ended meanwhile is left alone. */
export async function takeLeaseAway(store: Store, lease: Pick<LeaseProof, "leaseId" | "runnerId">): Promise<void> {
  await inTransaction(store, async (tx) => {
    const locked = await lockLease(tx, { ...lease, leaseToken: null })
    if (locked === null) return
    await settleLocked(tx, locked, { outcome: "released", code: "runner_removed", detail: null, counted: false, retryable: true })
  })
}
