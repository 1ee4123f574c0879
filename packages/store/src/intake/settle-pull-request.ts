import type { Transaction } from "../transaction.ts"
import { type PullRequestSnapshot, type StoredPullRequest, upsertPullRequest } from "./upsert-pull-request.ts"

/** What of a pull request decides about its review. */
export type PullRequestState = Pick<PullRequestSnapshot, "headSha" | "baseRef" | "draft" | "open">

/**
 * As `upsertPullRequest`, for what was read from GitHub.
 *
 * @returns what is stored now, and what was before: null for a pull request that was not known
 */
export async function settlePullRequest(
  tx: Transaction,
  project: { id: string; workspaceId: string },
  snapshot: PullRequestSnapshot,
  settles: boolean,
): Promise<{ before: PullRequestState | null; stored: StoredPullRequest }> {
  const [before] = await tx.sql<[PullRequestState?]>`
    select head_sha as "headSha", base_ref as "baseRef", draft, open from pull_requests
    where project_id = ${project.id} and number = ${snapshot.number} for update`
  return { before: before ?? null, stored: await upsertPullRequest(tx, project, snapshot, settles) }
}
