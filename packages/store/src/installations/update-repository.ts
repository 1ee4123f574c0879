import type { Transaction } from "../transaction.ts"
import type { RepositorySnapshot } from "./record-repositories.ts"

/** Refreshes name, addresses and visibility of a project. One that was removed stays removed. */
export async function updateRepository(
  { sql }: Transaction,
  project: { id: string; workspaceId: string },
  repository: Omit<RepositorySnapshot, "githubRepositoryId">,
): Promise<void> {
  await sql`
    update projects set owner = ${repository.owner}, name = ${repository.name}, web_url = ${repository.webUrl},
      git_url = ${repository.gitUrl}, private = coalesce(${repository.private ?? null}, private)
    where id = ${project.id} and workspace_id = ${project.workspaceId}`
}
