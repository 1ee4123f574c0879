import type { Query } from "../database.ts"
import type { Role } from "../schema.ts"

/** Adds a member; one who is there keeps the role. */
export async function ensureMember(sql: Query, workspaceId: string, userId: string, role: Role): Promise<void> {
  await sql`
    insert into memberships (workspace_id, user_id, role) values (${workspaceId}, ${userId}, ${role}) on conflict do nothing`
}
