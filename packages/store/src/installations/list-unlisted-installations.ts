import type { Store } from "../database.ts"

/** Installations that Galley takes for present although GitHub did not list them. */
export async function listUnlistedInstallations(
  { sql }: Store,
  hostId: string,
  listed: readonly number[],
): Promise<{ id: string; workspaceId: string; githubInstallationId: number }[]> {
  return sql<{ id: string; workspaceId: string; githubInstallationId: number }[]>`
    select id, workspace_id as "workspaceId", github_installation_id as "githubInstallationId" from installations
    where host_id = ${hostId} and removed_at is null
      and not (github_installation_id = any(${[...listed]}::bigint[]))`
}
