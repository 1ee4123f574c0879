import { createHash } from "node:crypto"
import { GalleyError } from "@galley/contract/errors"
import type { LeaseResult } from "@galley/contract/protocol"
import type { Store } from "../database.ts"
import { toJson } from "../json.ts"
import { taskQueues } from "../tasks.ts"
import { inTransaction, type Transaction } from "../transaction.ts"
import { hashToken, type LeaseProof } from "./lease-token.ts"

/**
 * Keeps a result durably and ends the lease, so that the model is never paid twice. A review turns the job `publishing` and stores its
 * publication task in the same transaction; a skipped review ends it. The same result again changes nothing. Throws `lease_lost` for
 * a stale lease or fence, `result_conflict` for another result of a lease that already has one.
 *
 * @returns false when this result was already stored
 */
export async function completeJob(store: Store, proof: LeaseProof, result: LeaseResult): Promise<boolean> {
  const digest = createHash("sha256").update(JSON.stringify(result)).digest()
  return inTransaction(store, async (tx) => {
    const job = await endLease(tx, proof, result)
    if (!job) return answerRepeated(tx, proof, digest)
    await storeResult(tx, proof.leaseId, result, digest)
    if (result.outcome === "reviewed") {
      await tx.sendTask(taskQueues.publishComment, { jobId: job.jobId, workspaceId: job.workspaceId })
    }
    tx.wakeRuns(job.workspaceId, proof.leaseId)
    // The workspace has room again, and after a skipped review the pull request too.
    tx.wakeJobs(0)
    return true
  })
}

async function endLease({ sql }: Transaction, proof: LeaseProof, result: LeaseResult) {
  const reviewed = result.outcome === "reviewed"
  const [job] = await sql<[{ jobId: string; workspaceId: string }?]>`
    update review_jobs j set
      state = ${reviewed ? "publishing" : "skipped"}, code = ${reviewed ? null : result.code},
      finished_at = ${reviewed ? null : sql`clock_timestamp()`}, lease_token_hash = null, lease_expires_at = null
    from review_runs r
    where r.id = ${proof.leaseId} and r.runner_id = ${proof.runnerId} and j.id = r.job_id and j.run_id = r.id
      and j.state = 'running' and j.fence = ${result.fence} and j.lease_token_hash = ${hashToken(proof.leaseToken)}
      and j.lease_expires_at > clock_timestamp()
    returning j.id as "jobId", j.workspace_id as "workspaceId"`
  return job
}

async function storeResult({ sql }: Transaction, runId: string, result: LeaseResult, digest: Uint8Array): Promise<void> {
  const review = result.outcome === "reviewed" ? result : null
  await sql`
    insert into review_results (run_id, digest, state, findings, coverage, trace, comment)
    values (${runId}, ${digest}, ${review ? sql.json(toJson(review.state)) : null}, ${sql.json(review?.findings ?? [])},
      ${sql.json(result.coverage)}, ${sql.json(result.trace)}, ${review?.comment ?? null})`
  await sql`
    update review_runs set outcome = ${result.outcome}, code = ${result.outcome === "skipped" ? result.code : null},
      phase = 'handing_over', usage = ${sql.json(result.usage)}, ended_at = clock_timestamp()
    where id = ${runId}`
}

async function answerRepeated({ sql }: Transaction, { leaseId, runnerId }: LeaseProof, digest: Uint8Array): Promise<false> {
  const [stored] = await sql<[{ same: boolean }?]>`
    select s.digest = ${digest} as same from review_results s join review_runs r on r.id = s.run_id
    where r.id = ${leaseId} and r.runner_id = ${runnerId}`
  if (!stored) throw new GalleyError("lease_lost", "the lease ended or was given away")
  if (!stored.same) throw new GalleyError("result_conflict", "this lease already has another result")
  return false
}
