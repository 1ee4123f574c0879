import { GalleyError } from "@galley/contract/errors"
import { noUsage, type Usage } from "@galley/contract/usage"
import type { Transaction } from "../transaction.ts"
import type { JobState } from "./job.ts"
import { hashToken, type LeaseProof } from "./lease-token.ts"

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

/** A lease that holds, with the locks that settling its attempt needs. */
interface LockedLease {
  leaseId: string
  jobId: string
  workspaceId: string
}

/** Ends the attempt of a lease that holds; SQL decides what becomes of the job. Throws `lease_lost`. */
export async function settleAttempt(tx: Transaction, proof: LeaseProof, ended: EndedAttempt): Promise<SettledJob> {
  const locked = await lockLease(tx, proof, tx.sql`and j.lease_token_hash = ${hashToken(proof.leaseToken)}`)
  if (!locked) throw new GalleyError("lease_lost", "the lease ended or was given away")
  return settleLocked(tx, locked, ended)
}

/**
 * Locks project, pull request and job of a runner's lease, in this order; null when the lease does not hold.
 *
 * @param proved what more must be true of the job `j`: that its token was shown, or nothing
 */
export async function lockLease(
  { sql }: Transaction,
  { leaseId, runnerId }: Pick<LeaseProof, "leaseId" | "runnerId">,
  proved: ReturnType<Transaction["sql"]>,
): Promise<LockedLease | null> {
  const [locked] = await sql<[LockedLease?]>`
    with run as (
      select id, job_id, project_id, pull_request_id from review_runs where id = ${leaseId} and runner_id = ${runnerId}
    ), project as (
      select p.id from projects p join run on run.project_id = p.id for share of p
    ), pull_request as (
      select q.id from pull_requests q join run on run.pull_request_id = q.id join project on true for update of q
    )
    select run.id as "leaseId", j.id as "jobId", j.workspace_id as "workspaceId"
    from review_jobs j join run on run.job_id = j.id join pull_request on true
    where j.run_id = run.id and j.state = 'running' and j.lease_expires_at > clock_timestamp() ${proved}
    for update of j`
  return locked ?? null
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
