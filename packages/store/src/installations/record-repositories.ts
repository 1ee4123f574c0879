import { uuidv7 } from "uuidv7"
import type { Transaction } from "../transaction.ts"

export interface RepositorySnapshot {
  githubRepositoryId: number
  owner: string
  name: string
  webUrl: string
  /** Address to fetch from, without credentials. */
  gitUrl: string
}

export interface InstallationOwner {
  id: string
  workspaceId: string
  hostId: string
}

/**
 * Adds repositories of an installation as projects (inactive until someone activates them), or refreshes their names. A repository that
 * moved to another installation of the same workspace follows; one of another workspace is left alone.
 */
export async function recordRepositories(
  { sql }: Transaction,
  installation: InstallationOwner,
  repositories: readonly RepositorySnapshot[],
): Promise<void> {
  // In a fixed order, so that two of these cannot wait for each other.
  const rows = repositories
    .toSorted((a, b) => a.githubRepositoryId - b.githubRepositoryId)
    .map((repository) => ({
      id: uuidv7(),
      workspace_id: installation.workspaceId,
      installation_id: installation.id,
      host_id: installation.hostId,
      github_repository_id: repository.githubRepositoryId,
      owner: repository.owner,
      name: repository.name,
      web_url: repository.webUrl,
      git_url: repository.gitUrl,
    }))
  if (rows.length === 0) return
  await sql`
    insert into projects ${sql(rows)}
    on conflict (host_id, github_repository_id) do update set
      installation_id = excluded.installation_id, owner = excluded.owner, name = excluded.name, web_url = excluded.web_url,
      git_url = excluded.git_url, removed_at = null
    where projects.workspace_id = excluded.workspace_id`
}
