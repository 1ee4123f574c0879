import { recordAudit } from "../audit/record-audit.ts"
import type { Store } from "../database.ts"
import { inTransaction } from "../transaction.ts"
import { lockRunner, type RunnerChange } from "./lock-runner.ts"

/**
 * Ends the token before the last rotation, before its time. Whoever still uses it is refused from the next request on, and reviews under way
 * with it are lost to their next attempt. Nothing happens when it ended already. Throws `not_found`.
 */
export async function revokeOldToken(store: Store, change: RunnerChange): Promise<void> {
  await inTransaction(store, async ({ sql }) => {
    const { overlaps } = await lockRunner(sql, change)
    if (!overlaps) return
    await sql`update runners set previous_token_hash = null, previous_token_until = null where id = ${change.runnerId}`
    const { workspaceId, runnerId, actor } = change
    await recordAudit(sql, { workspaceId, actor, action: "runner.revoke", subject: runnerId })
  })
}
