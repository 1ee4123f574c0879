import { uuidv7 } from "uuidv7"
import { toJson } from "../json.ts"
import type { Transaction } from "../transaction.ts"

export interface InstallationSnapshot {
  hostId: string
  githubInstallationId: number
  accountLogin: string
  /** What the account granted, e.g. `{ contents: "read" }`; left out when the source does not say: it stays as it was. */
  permissions?: Readonly<Record<string, string>>
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
  const permissions = snapshot.permissions === undefined ? null : sql.json(toJson(snapshot.permissions))
  const [row] = await sql<[{ id: string; workspaceId: string }]>`
    insert into installations as known (id, workspace_id, host_id, github_installation_id, account_login, permissions)
    values (${uuidv7()}, ${workspaceId}, ${snapshot.hostId}, ${snapshot.githubInstallationId}, ${snapshot.accountLogin},
      coalesce(${permissions}::jsonb, '{}'))
    on conflict (host_id, github_installation_id) do update set
      account_login = excluded.account_login, permissions = coalesce(${permissions}::jsonb, known.permissions),
      removed_at = case when not ${snapshot.isLive} then known.removed_at end,
      suspended_at = case when not ${snapshot.isLive} then known.suspended_at end
    returning id, workspace_id as "workspaceId"`
  return row
}
