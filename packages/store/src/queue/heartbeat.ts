import { GalleyError } from "@galley/contract/errors"
import type { Heartbeat, HeartbeatAnswer } from "@galley/contract/protocol"
import type { Store } from "../database.ts"
import { wakeRuns } from "../transaction.ts"
import { LEASE_MS } from "./claim-jobs.ts"
import { hashToken, type LeaseProof } from "./lease-token.ts"

/**
 * Renews a lease and keeps phase, progress and usage. `cancel` when someone asked to stop the job or its pull request closed;
 * `superseded` when a newer head waits and no model call was paid for yet: later the review is finished, so that a stream of pushes
 * cannot starve it. Throws `lease_lost`.
 */
export async function heartbeat(
  store: Store,
  proof: LeaseProof,
  beat: Heartbeat,
  options: { leaseMs?: number } = {},
): Promise<HeartbeatAnswer["action"]> {
  const { sql } = store
  const [row] = await sql<[{ workspaceId: string; stop: boolean; superseded: boolean }?]>`
    with job as (
      update review_jobs j set lease_expires_at = clock_timestamp() + ${options.leaseMs ?? LEASE_MS} * interval '1 millisecond'
      from review_runs r
      where r.id = ${proof.leaseId} and r.runner_id = ${proof.runnerId} and j.id = r.job_id and j.run_id = r.id
        and j.state = 'running' and j.lease_token_hash = ${hashToken(proof.leaseToken)} and j.lease_expires_at > clock_timestamp()
      returning j.workspace_id, j.pull_request_id, j.head_sha, j.cancel_code
    ), run as (
      update review_runs set phase = ${beat.phase}, progress = ${beat.progress}, usage = ${sql.json(beat.usage)},
        heartbeat_at = clock_timestamp()
      where id = ${proof.leaseId} and exists (select from job)
    )
    select job.workspace_id as "workspaceId", job.cancel_code is not null or not q.open as stop,
      exists (select from review_jobs w where w.pull_request_id = q.id and w.state = 'waiting' and w.head_sha <> job.head_sha)
        as superseded
    from job join pull_requests q on q.id = job.pull_request_id`
  if (!row) throw new GalleyError("lease_lost", "the lease ended or was given away")
  wakeRuns(store, row.workspaceId, proof.leaseId)
  if (row.stop) return "cancel"
  return row.superseded && beat.usage.modelCalls === 0 ? "superseded" : "continue"
}
