import { recordAudit } from "../audit/record-audit.ts"
import type { Store } from "../database.ts"
import { inTransaction } from "../transaction.ts"
import { keepAnOwner } from "./keep-an-owner.ts"

/** Throws `not_found` for someone who is no member, `forbidden` when the workspace would lose its last owner. */
export async function removeMember(store: Store, workspaceId: string, userId: string, actor: string): Promise<void> {
  await inTransaction(store, async (tx) => {
    await keepAnOwner(tx, workspaceId, userId, null)
    await tx.sql`delete from memberships where workspace_id = ${workspaceId} and user_id = ${userId}`
    await recordAudit(tx.sql, { workspaceId, actor, action: "member.remove", subject: userId })
  })
}
