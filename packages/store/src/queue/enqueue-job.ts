import type { ReviewKind } from "@galley/contract/settings"
import { uuidv7 } from "uuidv7"
import type { Transaction } from "../transaction.ts"
import { type JobCause, MAX_DEBOUNCE_MS } from "./job.ts"

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
  const [job] = await sql<[(EnqueuedJob & { delayMs: number })?]>`
    with wanted as (
      select q.id, q.workspace_id, q.project_id, now() + ${wanted.debounceMs}::float8 * interval '1 millisecond' as run_after
      from pull_requests q where q.id = ${wanted.pullRequestId} and q.workspace_id = ${wanted.workspaceId} for update
    )
    insert into review_jobs as job (
      id, workspace_id, project_id, pull_request_id, state, cause, requested_by, review_kind, head_sha, base_sha, head_updated_at,
      priority, run_after)
    select ${uuidv7()}, w.workspace_id, w.project_id, w.id, 'waiting', ${wanted.cause}, ${wanted.requestedBy ?? null}, ${wanted.kind},
      ${wanted.headSha}, ${wanted.baseSha}, ${wanted.headUpdatedAt}, ${wanted.priority}, w.run_after
    from wanted w
    on conflict (pull_request_id) where state = 'waiting' do update set
      (head_sha, base_sha, head_updated_at, review_kind, failures) = (
        select excluded.head_sha, excluded.base_sha, excluded.head_updated_at, excluded.review_kind,
          case when excluded.head_sha = job.head_sha then job.failures else 0 end
        where excluded.head_updated_at >= job.head_updated_at
        union all
        select job.head_sha, job.base_sha, job.head_updated_at, job.review_kind, job.failures
        where excluded.head_updated_at < job.head_updated_at),
      (cause, requested_by) = (
        select excluded.cause, excluded.requested_by where excluded.priority > job.priority
        union all
        select job.cause, job.requested_by where excluded.priority <= job.priority),
      priority = greatest(job.priority, excluded.priority),
      run_after = case
        when greatest(job.priority, excluded.priority) > 0 then least(job.run_after, excluded.run_after)
        when excluded.head_updated_at < job.head_updated_at then job.run_after
        else least(excluded.run_after, job.first_queued_at + ${MAX_DEBOUNCE_MS} * interval '1 millisecond') end
    returning id as "jobId", (xmax = 0) as "isNew", run_after as "runAfter",
      (extract(epoch from run_after - clock_timestamp()) * 1000)::float8 as "delayMs"`
  if (!job) throw new Error(`no pull request ${wanted.pullRequestId} in workspace ${wanted.workspaceId}`)
  tx.wakeJobs(job.delayMs)
  return { jobId: job.jobId, isNew: job.isNew, runAfter: job.runAfter }
}
