import type { Query } from "../database.ts"

export interface KnownInstallation {
  id: string
  workspaceId: string
  /** GitHub's `updated_at` of what is known of it; null when no source said. */
  changedAt: Date | null
}

/** An installation by GitHub's id, removed or not; null when it was never heard of. */
export async function findInstallation(sql: Query, hostId: string, githubInstallationId: number): Promise<KnownInstallation | null> {
  const [row] = await sql<[KnownInstallation?]>`
    select id, workspace_id as "workspaceId", changed_at as "changedAt" from installations
    where host_id = ${hostId} and github_installation_id = ${githubInstallationId}`
  return row ?? null
}
