import type { GalleyErrorCode } from "@galley/contract/errors"
import type { Transaction } from "../transaction.ts"

/** Whose waiting jobs end. */
export type JobScope = { projectId: string } | { pullRequestId: string } | { installationId: string }

/**
 * Cancels all waiting jobs of the scope; running ones go on. The caller holds the lock of the project or pull request, so that no job
 * can join unseen.
 *
 * @param code stored as the reason, e.g. `pull_request_closed`
 * @returns how many were cancelled
 */
export async function cancelWaitingJobs(
  { sql }: Transaction,
  workspaceId: string,
  scope: JobScope,
  code: GalleyErrorCode,
): Promise<number> {
  const where =
    "projectId" in scope
      ? sql`project_id = ${scope.projectId}`
      : "pullRequestId" in scope
        ? sql`pull_request_id = ${scope.pullRequestId}`
        : sql`project_id in (select id from projects where installation_id = ${scope.installationId})`
  const cancelled = await sql`
    update review_jobs set state = 'cancelled', code = ${code}, finished_at = clock_timestamp()
    where ${where} and workspace_id = ${workspaceId} and state = 'waiting'`
  return cancelled.count
}
