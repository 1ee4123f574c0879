import { uuidv7 } from "uuidv7"
import type { Transaction } from "../transaction.ts"

export interface RepositorySnapshot {
  githubRepositoryId: number
  owner: string
  name: string
  webUrl: string
  /** Address to fetch from, without credentials. */
  gitUrl: string
  /** Not everybody can see it. Left out: as known, and private when nothing is known. */
  private?: boolean
}

export interface InstallationOwner {
  id: string
  workspaceId: string
  hostId: string
}

/**
 * Adds repositories of an installation as projects (inactive until someone activates them), or refreshes what is known of them. One that
 * moved to another installation of the same workspace follows; one of another workspace is left alone. Any number in one statement.
 */
export async function recordRepositories(
  { sql }: Transaction,
  installation: InstallationOwner,
  repositories: readonly RepositorySnapshot[],
): Promise<void> {
  if (repositories.length === 0) return
  // A row locked once cannot be locked again by the same statement.
  const rows = [...new Map(repositories.map((repository) => [repository.githubRepositoryId, { id: uuidv7(), ...repository }])).values()]
  // In a fixed order, so that two of these cannot wait for each other.
  await sql`
    insert into projects as known (id, workspace_id, installation_id, host_id, github_repository_id, owner, name, web_url, git_url, private)
    select r.id, ${installation.workspaceId}, ${installation.id}, ${installation.hostId}, r."githubRepositoryId", r.owner, r.name,
      r."webUrl", r."gitUrl", coalesce(r.private, p.private, true)
    from jsonb_to_recordset(${sql.json(rows)}) as r (
      id uuid, "githubRepositoryId" bigint, owner text, name text, "webUrl" text, "gitUrl" text, private boolean)
    left join projects p on p.host_id = ${installation.hostId} and p.github_repository_id = r."githubRepositoryId"
    order by r."githubRepositoryId"
    on conflict (host_id, github_repository_id) do update set
      installation_id = excluded.installation_id, owner = excluded.owner, name = excluded.name, web_url = excluded.web_url,
      git_url = excluded.git_url, private = excluded.private, removed_at = null
    where known.workspace_id = excluded.workspace_id`
}
