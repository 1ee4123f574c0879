import type { FindingState } from "@galley/contract/finding"
import type { Store } from "../database.ts"

/** A stored review that waits to be written to its pull request. */
export interface Publication {
  jobId: string
  runId: string
  workspaceId: string
  fence: number
  /** Fence of the newest review that was published. */
  publishedFence: number
  headSha: string
  comment: string
  state: FindingState
  hostId: string
  githubInstallationId: number
  githubRepositoryId: number
  owner: string
  repository: string
  number: number
  pullRequestId: string
  /** The comment of the last publication, if any. */
  commentId: number | null
  lastReviewedSha: string | null
  /** SHA-256 in hex of the state as last published. */
  publishedDigest: string | null
  publishedState: FindingState | null
}

/**
 * Runs `publish` as the only writer of the pull request's comment, on any server: one at a time, held by a session lock on a connection
 * of its own, so no transaction stays open during calls to GitHub. `busy` when another writer is at work (ask again later), `gone` when
 * the job is no longer publishing. `publish` ends with `finishPublication`, with `failPublication`, or throws to be retried.
 */
export async function withPublication(
  store: Store,
  workspaceId: string,
  jobId: string,
  publish: (publication: Publication) => Promise<void>,
): Promise<"done" | "busy" | "gone"> {
  const connection = await store.sql.reserve()
  try {
    const [lock] = await connection<[{ key: string; taken: boolean }?]>`
      with job as (select hashtextextended(pull_request_id::text, 0) as key from review_jobs
        where id = ${jobId} and workspace_id = ${workspaceId})
      select key::text, pg_try_advisory_lock(key) as taken from job`
    if (!lock) return "gone"
    if (!lock.taken) return "busy"
    try {
      const [publication] = await connection<[Publication?]>`
        select j.id as "jobId", j.run_id as "runId", j.workspace_id as "workspaceId", j.fence, j.head_sha as "headSha", s.comment, s.state,
          q.published_fence as "publishedFence",
          p.host_id as "hostId", i.github_installation_id as "githubInstallationId", p.github_repository_id as "githubRepositoryId",
          p.owner, p.name as repository, q.number, q.id as "pullRequestId", q.comment_id as "commentId",
          q.last_reviewed_sha as "lastReviewedSha", encode(q.published_digest, 'hex') as "publishedDigest",
          q.published_state as "publishedState"
        from review_jobs j
        join review_results s on s.run_id = j.run_id
        join pull_requests q on q.id = j.pull_request_id
        join projects p on p.id = j.project_id
        join installations i on i.id = p.installation_id
        where j.id = ${jobId} and j.workspace_id = ${workspaceId} and j.state = 'publishing'`
      if (!publication) return "gone"
      await publish(publication)
      return "done"
    } finally {
      await connection`select pg_advisory_unlock(${lock.key}::bigint)`
    }
  } finally {
    connection.release()
  }
}
