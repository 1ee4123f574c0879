import { GalleyError } from "@galley/contract/errors"
import { noUsage, type Usage } from "@galley/contract/usage"
import type { Transaction } from "../transaction.ts"
import type { JobState } from "./job.ts"
import type { LeaseProof } from "./lease-token.ts"
import { type LockedLease, lockLease } from "./lock-lease.ts"

export interface EndedAttempt {
  outcome: "failed" | "released"
  code: string | null
  detail: string | null
  /** Counts against the three attempts of a job. */
  counted: boolean
  /** False when another attempt would end the same way. */
  retryable: boolean
  /** Kept, so that the budget of the job spans its attempts. */
  usage?: Usage
  /** Milliseconds until the next attempt; left out: by the number of failures, or at once when this attempt does not count. */
  delayMs?: number
}

export interface SettledJob {
  jobId: string
  state: JobState
}

/** Ends the attempt of a lease that holds; SQL decides what becomes of the job. Throws `lease_lost`. */
export async function settleAttempt(tx: Transaction, proof: LeaseProof, ended: EndedAttempt): Promise<SettledJob> {
  const locked = await lockLease(tx, proof)
  if (!locked) throw new GalleyError("lease_lost", "the lease ended or was given away")
  return settleLocked(tx, locked, ended)
}

/** Ends the attempt of a lease that `lockLease` locked. */
export async function settleLocked(
  tx: Transaction,
  { leaseId, jobId, workspaceId }: LockedLease,
  ended: EndedAttempt,
): Promise<SettledJob> {
  const { sql } = tx
  if (ended.usage) await sql`update review_runs set usage = ${sql.json({ ...noUsage, ...ended.usage })} where id = ${leaseId}`
  const delay =
    ended.counted && ended.delayMs === undefined
      ? sql`review_retry_delay(j.failures)`
      : sql`${ended.delayMs ?? 0}::float8 * interval '1 millisecond'`
  const [settled] = await sql<[{ state: JobState; delayMs: number }]>`
    select settle_review_attempt(j.id, ${ended.outcome}, ${ended.code}, ${ended.detail}, ${ended.counted},
        ${ended.retryable ? delay : null}) as state,
      (extract(epoch from ${delay}) * 1000)::float8 as "delayMs"
    from review_jobs j where j.id = ${jobId}`
  tx.wakeRuns(workspaceId, leaseId)
  tx.wakeJobs(0)
  if (settled.state === "waiting" && settled.delayMs > 0) tx.wakeJobs(settled.delayMs)
  return { jobId, state: settled.state }
}
