import { uuidv7 } from "uuidv7"
import type { Transaction } from "../transaction.ts"

export interface InstallationSnapshot {
  hostId: string
  githubInstallationId: number
  accountLogin: string
}

/**
 * Records that an App installation exists and belongs to the workspace; one that was removed or suspended is live again. An
 * installation never changes its workspace.
 *
 * @returns id of the installation and the workspace that owns it
 */
export async function recordInstallation(
  { sql }: Transaction,
  workspaceId: string,
  snapshot: InstallationSnapshot,
): Promise<{ id: string; workspaceId: string }> {
  const [row] = await sql<[{ id: string; workspaceId: string }]>`
    insert into installations (id, workspace_id, host_id, github_installation_id, account_login)
    values (${uuidv7()}, ${workspaceId}, ${snapshot.hostId}, ${snapshot.githubInstallationId}, ${snapshot.accountLogin})
    on conflict (host_id, github_installation_id) do update set
      account_login = excluded.account_login, removed_at = null, suspended_at = null
    returning id, workspace_id as "workspaceId"`
  return row
}
