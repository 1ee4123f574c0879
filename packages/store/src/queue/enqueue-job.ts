import type { ReviewKind } from "@galley/contract/settings"
import { uuidv7 } from "uuidv7"
import type { Transaction } from "../transaction.ts"
import type { JobCause } from "./job.ts"

export interface WantedReview {
  workspaceId: string
  pullRequestId: string
  /** 40 or 64 hex digits. */
  headSha: string
  baseSha: string
  /** The pull request's `updated_at` at GitHub when it had this head: an older head never replaces a newer one. */
  headUpdatedAt: Date
  /** Pinned from here on. Read it from a project locked FOR SHARE in the same transaction. */
  kind: ReviewKind
  cause: JobCause
  /** Login of the person who asked. */
  requestedBy?: string
  debounceMs: number
  priority: number
}

export interface EnqueuedJob {
  jobId: string
  /** False when the request joined the job that was already waiting. */
  isNew: boolean
  runAfter: Date
}

/**
 * Queues a review of a pull request, or moves its waiting job to the newer head: `run_after = least(last push + debounce, first
 * queued + 300 s)`. An urgent request brings the job forward, and later pushes no longer delay it. Waiting runners are woken after
 * the commit. Throws when the pull request is not in the workspace.
 */
export async function enqueueJob(tx: Transaction, wanted: WantedReview): Promise<EnqueuedJob> {
  const { sql } = tx
  const row = {
    id: uuidv7(),
    workspace_id: wanted.workspaceId,
    cause: wanted.cause,
    requested_by: wanted.requestedBy ?? null,
    review_kind: wanted.kind,
    head_sha: wanted.headSha,
    base_sha: wanted.baseSha,
    head_updated_at: wanted.headUpdatedAt.toISOString(),
    priority: wanted.priority,
    debounce_ms: wanted.debounceMs,
  }
  const [job] = await sql<[(EnqueuedJob & { delayMs: number })?]>`
    with pull_request as (
      select project_id, number from pull_requests where id = ${wanted.pullRequestId} and workspace_id = ${wanted.workspaceId} for update)
    select e.job_id as "jobId", e.is_new as "isNew", e.due as "runAfter", e.delay_ms as "delayMs"
    from pull_request q, enqueue_reviews(
      jsonb_build_array(${sql.json(row)} || jsonb_build_object('project_id', q.project_id, 'number', q.number))) e`
  if (!job) throw new Error(`no pull request ${wanted.pullRequestId} in workspace ${wanted.workspaceId}`)
  tx.wakeJobs(job.delayMs)
  return { jobId: job.jobId, isNew: job.isNew, runAfter: job.runAfter }
}
