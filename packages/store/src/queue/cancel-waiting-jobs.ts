import type { GalleyErrorCode } from "@galley/contract/errors"
import type { Transaction } from "../transaction.ts"

/** Whose waiting jobs end. */
export type JobScope = { projectId: string } | { installationId: string }

/**
 * Cancels all waiting jobs of the scope; running ones go on. The caller holds the locks of the projects, so that no job can join
 * unseen.
 *
 * @param code stored as the reason, e.g. `installation_gone`
 */
export async function cancelWaitingJobs({ sql }: Transaction, workspaceId: string, scope: JobScope, code: GalleyErrorCode): Promise<void> {
  const where =
    "projectId" in scope
      ? sql`project_id = ${scope.projectId}`
      : sql`project_id in (select id from projects where installation_id = ${scope.installationId})`
  await sql`
    update review_jobs set state = 'cancelled', code = ${code}, finished_at = clock_timestamp()
    where ${where} and workspace_id = ${workspaceId} and state = 'waiting'`
}
