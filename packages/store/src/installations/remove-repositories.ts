import { cancelWaitingJobs } from "../queue/cancel-waiting-jobs.ts"
import type { Transaction } from "../transaction.ts"
import type { InstallationOwner } from "./record-repositories.ts"

/** Marks repositories as gone and cancels their waiting jobs with `repository_gone`; settings and history stay. */
export async function removeRepositories(
  tx: Transaction,
  installation: InstallationOwner,
  githubRepositoryIds: readonly number[],
): Promise<void> {
  const removed = await tx.sql<{ id: string }[]>`
    update projects set removed_at = now()
    where installation_id = ${installation.id} and workspace_id = ${installation.workspaceId} and removed_at is null
      and github_repository_id = any(${[...githubRepositoryIds]}::bigint[])
    returning id`
  for (const { id } of removed) await cancelWaitingJobs(tx, installation.workspaceId, { projectId: id }, "repository_gone")
}
