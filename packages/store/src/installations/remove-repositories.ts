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
    with gone as (
      select id from projects
      where installation_id = ${installation.id} and workspace_id = ${installation.workspaceId} and removed_at is null
        and github_repository_id = any(${[...githubRepositoryIds]}::bigint[])
      order by github_repository_id for no key update
    )
    update projects set removed_at = now() where id in (select id from gone) returning id`
  // Sent together: hundreds of repositories may leave at once.
  await Promise.all(removed.map(({ id }) => cancelWaitingJobs(tx, installation.workspaceId, { projectId: id }, "repository_gone")))
}
