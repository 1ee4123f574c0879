import type { ReviewKind } from "@galley/contract/settings"
import type { PendingQuery, Row, Sql } from "postgres"
import type { JobState } from "../queue/job.ts"

/** The unfinished job of a pull request. */
export interface OpenJob {
  id: string
  state: Extract<JobState, "waiting" | "running" | "publishing">
  kind: ReviewKind
  runAfter: Date
  runId: string | null
}

/** A pull request as pages show it, with the jobs that have not ended: at most one busy and one waiting, the busy one first. */
export interface PullRequestOverview {
  id: string
  number: number
  title: string
  author: string
  baseRef: string
  headRef: string
  headSha: string
  webUrl: string
  draft: boolean
  open: boolean
  updatedAt: Date
  commentId: number | null
  lastReviewedSha: string | null
  jobs: OpenJob[]
}

/** Newest first, at most 200. */
export async function selectPullRequests(sql: Sql, where: PendingQuery<Row[]>): Promise<PullRequestOverview[]> {
  const rows = await sql<(PullRequestOverview & { jobs: (Omit<OpenJob, "runAfter"> & { runAfter: string })[] })[]>`
    select q.id, q.number, q.title, q.author, q.base_ref as "baseRef", q.head_ref as "headRef", q.head_sha as "headSha",
      q.web_url as "webUrl", q.draft, q.open, q.updated_at as "updatedAt", q.comment_id as "commentId",
      q.last_reviewed_sha as "lastReviewedSha", j.jobs
    from pull_requests q cross join lateral (
      select coalesce(jsonb_agg(jsonb_build_object('id', id, 'state', state, 'kind', review_kind, 'runAfter', run_after, 'runId', run_id)
        order by state = 'waiting'), '[]') as jobs
      from review_jobs where pull_request_id = q.id and state in ('waiting', 'running', 'publishing')) j
    where ${where}
    order by q.number desc limit 200`
  return rows.map((row) => ({ ...row, jobs: row.jobs.map((job) => ({ ...job, runAfter: new Date(job.runAfter) })) }))
}
