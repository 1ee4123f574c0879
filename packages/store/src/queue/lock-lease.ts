import type { Transaction } from "../transaction.ts"
import { hashToken, type LeaseProof } from "./lease-token.ts"

/** A lease that holds, with the locks that settling its attempt needs. */
export interface LockedLease {
  leaseId: string
  jobId: string
  workspaceId: string
}

/**
 * Locks project, pull request and job of a runner's lease, in this order; null when the lease does not hold. A `leaseToken` of null is not
 * asked for: the server itself takes the lease away.
 */
export async function lockLease(
  { sql }: Transaction,
  { leaseId, runnerId, leaseToken }: Omit<LeaseProof, "leaseToken"> & { leaseToken: string | null },
): Promise<LockedLease | null> {
  const proved = leaseToken === null ? sql`` : sql`and j.lease_token_hash = ${hashToken(leaseToken)}`
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
