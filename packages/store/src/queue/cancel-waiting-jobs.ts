import type { GalleyErrorCode } from "@galley/contract/errors"
import type { PendingQuery, Row, TransactionSql } from "postgres"
import type { Transaction } from "../transaction.ts"

/** Whose waiting jobs end. */
export type JobScope = { pullRequestId: string } | { projectId: string } | { installationId: string }

/**
 * Cancels all waiting jobs of the scope; running ones go on. The caller holds the locks of the projects or of the pull request, so that no
 * job can join unseen.
 *
 * @param code stored as the reason, e.g. `installation_gone`
 * @returns how many there were
 */
export async function cancelWaitingJobs(
  { sql }: Transaction,
  workspaceId: string,
  scope: JobScope,
  code: GalleyErrorCode,
): Promise<number> {
  const cancelled = await sql`
    update review_jobs set state = 'cancelled', code = ${code}, finished_at = clock_timestamp()
    where ${inScope(sql, scope)} and workspace_id = ${workspaceId} and state = 'waiting'`
  return cancelled.count
}

function inScope(sql: TransactionSql, scope: JobScope): PendingQuery<Row[]> {
  if ("pullRequestId" in scope) return sql`pull_request_id = ${scope.pullRequestId}`
  if ("projectId" in scope) return sql`project_id = ${scope.projectId}`
  return sql`project_id in (select id from projects where installation_id = ${scope.installationId})`
}
