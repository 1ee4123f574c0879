import { recordAudit } from "../audit/record-audit.ts"
import type { Store } from "../database.ts"
import type { Role } from "../schema.ts"
import { inTransaction } from "../transaction.ts"
import { keepAnOwner } from "./keep-an-owner.ts"

/** Throws `not_found` for someone who is no member, `forbidden` when the workspace would lose its last owner. */
export async function setMemberRole(store: Store, workspaceId: string, userId: string, role: Role, actor: string): Promise<void> {
  await inTransaction(store, async (tx) => {
    await keepAnOwner(tx, workspaceId, userId, role)
    await tx.sql`update memberships set role = ${role} where workspace_id = ${workspaceId} and user_id = ${userId}`
    await recordAudit(tx.sql, { workspaceId, actor, action: "member.role", subject: userId, details: { role } })
  })
}
