import type { Store } from "../database.ts"

/** What a call to GitHub about a project needs. */
export interface ProjectAddress {
  owner: string
  name: string
  hostId: string
  githubInstallationId: number
  githubRepositoryId: number
}

/** null for a project that is not in the workspace, or no longer in reach of a live installation. */
export async function getProjectAddress({ sql }: Store, workspaceId: string, projectId: string): Promise<ProjectAddress | null> {
  const [address] = await sql<[ProjectAddress?]>`
    select p.owner, p.name, p.host_id as "hostId", i.github_installation_id as "githubInstallationId",
      p.github_repository_id as "githubRepositoryId"
    from projects p join installations i on i.id = p.installation_id
    where p.id = ${projectId} and p.workspace_id = ${workspaceId}
      and p.removed_at is null and i.removed_at is null and i.suspended_at is null`
  return address ?? null
}
