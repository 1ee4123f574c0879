import { errorCode, GalleyError, type GalleyErrorCode } from "@galley/contract/errors"
import { stateDigest } from "@galley/findings/comment-state"
import { finalFaults } from "@galley/github/final-faults"
import type { GitHubCall } from "@galley/github/github-app"
import type { PullRequestAddress } from "@galley/github/pull-request"
import { createComment, deleteComment, updateComment } from "@galley/github/summary-comment"
import { findJobObstacle } from "@galley/store/installations/find-job-obstacle"
import { failPublication } from "@galley/store/queue/fail-publication"
import { finishPublication } from "@galley/store/queue/finish-publication"
import { type Publication, withPublication } from "@galley/store/queue/with-publication"
import { queueTask, taskQueues } from "@galley/store/tasks"
import type { ServerContext } from "../context.ts"
import { assertPublishable } from "./assert-publishable.ts"
import { findSummary } from "./find-summary.ts"

/** Another writer of the pull request's comment needs about so long. */
const BUSY_SECONDS = 5

/** A failed read of the comments is told by what it means for the publication. */
const meaning: Partial<Record<GalleyErrorCode, GalleyErrorCode>> = { not_found: "publish_gone", forbidden: "publish_forbidden" }

/**
 * Writes the one summary comment of a pull request from a stored result. Runs as a retried task inside the pull request's critical section,
 * so it may be called any number of times: a comment that a crashed attempt created is found again and adopted.
 *
 * @throws `github_rate_limited` (details `retryAfterSeconds`), `github_unavailable` and whatever else passes by itself
 */
export async function publishComment(context: ServerContext, workspaceId: string, jobId: string): Promise<void> {
  const outcome = await withPublication(context.store, workspaceId, jobId, (publication) => publish(context, publication))
  // Nothing failed, so no attempt of the task is counted.
  if (outcome === "busy") await queueTask(context.store, taskQueues.publishComment, { workspaceId, jobId }, BUSY_SECONDS)
}

async function publish(context: ServerContext, publication: Publication): Promise<void> {
  const { workspaceId, jobId } = publication
  try {
    assertNewest(publication)
    await assertReachable(context, publication)
    assertPublishable(publication.comment, publication.state)
    const call = context.github.forRepository(publication.githubInstallationId, publication.githubRepositoryId)
    const at = { owner: publication.owner, repository: publication.repository, number: publication.number }
    const commentId = await writeComment(call, at, await context.github.botLogin(), publication)
    await finishPublication(context.store, {
      workspaceId,
      jobId,
      commentId,
      state: publication.state,
      digest: stateDigest(publication.state),
    })
    context.log.info({ jobId, commentId, number: publication.number }, "comment published")
  } catch (error) {
    if (!finalFaults.has(errorCode(error))) throw error
    const code = meaning[errorCode(error)] ?? errorCode(error)
    context.log.warn({ jobId, code, err: error }, "publication given up")
    await failPublication(context.store, { workspaceId, jobId, code, detail: error instanceof GalleyError ? error.message : "" })
  }
}

/** A newer review stands on the pull request already. */
function assertNewest({ fence, publishedFence }: Publication): void {
  if (fence <= publishedFence) throw new GalleyError("publish_stale", "a newer review of the pull request was published")
}

/** What the workspace may no longer touch is not asked of GitHub either. */
async function assertReachable({ store }: ServerContext, { workspaceId, jobId }: Publication): Promise<void> {
  const obstacle = await findJobObstacle(store.sql, workspaceId, jobId)
  if (obstacle !== null) throw new GalleyError(obstacle, "the App may no longer write to the repository")
}

/** @returns id of the comment that now holds the body */
async function writeComment(call: GitHubCall, at: PullRequestAddress, botLogin: string, publication: Publication): Promise<number> {
  const { current, duplicates } = await findSummary(call, at, botLogin, publication.commentId)
  for (const duplicate of duplicates) await deleteDuplicate(call, at, duplicate.id)
  if (current === null) return createComment(call, at, publication.comment)
  if (current.body === publication.comment) return current.id
  try {
    await updateComment(call, at, current.id, publication.comment)
    return current.id
  } catch (error) {
    // Deleted between the read and the write.
    if (errorCode(error) !== "publish_gone") throw error
    return createComment(call, at, publication.comment)
  }
}

async function deleteDuplicate(call: GitHubCall, at: PullRequestAddress, commentId: number): Promise<void> {
  try {
    await deleteComment(call, at, commentId)
  } catch (error) {
    if (errorCode(error) !== "publish_gone") throw error
  }
}
