import { GalleyError } from "@galley/contract/errors"
import type { FindingState } from "@galley/contract/finding"
import type { Store } from "../database.ts"
import { toJson } from "../json.ts"
import { inTransaction } from "../transaction.ts"

export interface FinishedPublication {
  workspaceId: string
  jobId: string
  commentId: number
  /** The state as it stands in the comment now. */
  state: FindingState
  /** SHA-256 in hex over the canonical form of the state. */
  digest: string
}

/**
 * Records that the comment was written: the job has succeeded, and the pull request remembers comment, reviewed head and state.
 * Throws `publish_stale` when a newer lease was published meanwhile; the job is then superseded.
 */
export async function finishPublication(store: Store, finished: FinishedPublication): Promise<void> {
  const recorded = await inTransaction(store, async (tx) => {
    const { sql } = tx
    const [job] = await sql<[{ pullRequestId: string; runId: string; fence: number; headSha: string }?]>`
      select j.pull_request_id as "pullRequestId", j.run_id as "runId", j.fence, j.head_sha as "headSha"
      from review_jobs j join pull_requests q on q.id = j.pull_request_id
      where j.id = ${finished.jobId} and j.workspace_id = ${finished.workspaceId} and j.state = 'publishing'
      for update of q, j`
    if (!job) return false
    const newest = await sql`
      update pull_requests set comment_id = ${finished.commentId}, last_reviewed_sha = ${job.headSha}, published_fence = ${job.fence},
        published_state = ${sql.json(toJson(finished.state))}, published_digest = decode(${finished.digest}, 'hex')
      where id = ${job.pullRequestId} and published_fence < ${job.fence}`
    const recordedNow = newest.count === 1
    await sql`
      update review_jobs set state = ${recordedNow ? "succeeded" : "superseded"}, code = ${recordedNow ? null : "publish_stale"},
        finished_at = clock_timestamp()
      where id = ${finished.jobId}`
    if (recordedNow) await sql`update review_runs set published_at = clock_timestamp() where id = ${job.runId}`
    tx.wakeRuns(finished.workspaceId, job.runId)
    tx.wakeJobs(0)
    return recordedNow
  })
  if (!recorded) throw new GalleyError("publish_stale", "the job is no longer the newest publication of its pull request")
}
