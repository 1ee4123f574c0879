import { uuidv7 } from "uuidv7"
import type { Transaction } from "../transaction.ts"

export interface InstallationSnapshot {
  hostId: string
  githubInstallationId: number
  accountLogin: string
  /** The source knows that the installation is live now, so marks of removal and suspension go. Any other word may be a late one. */
  isLive: boolean
}

/**
 * Records that an App installation exists and belongs to the workspace. An installation never changes its workspace.
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
      account_login = excluded.account_login,
      removed_at = case when not ${snapshot.isLive} then installations.removed_at end,
      suspended_at = case when not ${snapshot.isLive} then installations.suspended_at end
    returning id, workspace_id as "workspaceId"`
  return row
}
