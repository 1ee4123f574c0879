import { GalleyError } from "@galley/contract/errors"
import { recordAudit } from "../audit/record-audit.ts"
import type { Store } from "../database.ts"
import { inTransaction } from "../transaction.ts"

/** A paused runner gets no new lease; what it works on it may finish. Throws `not_found`. */
export async function setRunnerPaused(
  store: Store,
  workspaceId: string | null,
  runnerId: string,
  paused: boolean,
  actor: string,
): Promise<void> {
  await inTransaction(store, async ({ sql }) => {
    const changed = await sql`
      update runners set paused = ${paused} where id = ${runnerId} and workspace_id is not distinct from ${workspaceId}`
    if (changed.count === 0) throw new GalleyError("not_found", "no such runner")
    await recordAudit(sql, { workspaceId, actor, action: paused ? "runner.pause" : "runner.resume", subject: runnerId })
  })
}
