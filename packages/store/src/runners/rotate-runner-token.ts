import { GalleyError } from "@galley/contract/errors"
import { recordAudit } from "../audit/record-audit.ts"
import type { Store } from "../database.ts"
import { inTransaction } from "../transaction.ts"
import { createRunnerToken, hashRunnerToken } from "./runner-token.ts"

/** Gives a runner a new token; the old one stops working at once, leases it holds included. Throws `not_found`. */
export async function rotateRunnerToken(
  store: Store,
  workspaceId: string | null,
  runnerId: string,
  actor: string,
): Promise<{ token: string }> {
  const token = createRunnerToken()
  return inTransaction(store, async ({ sql }) => {
    const rotated = await sql`
      update runners set token_hash = ${hashRunnerToken(token)}
      where id = ${runnerId} and workspace_id is not distinct from ${workspaceId}`
    if (rotated.count === 0) throw new GalleyError("not_found", "no such runner")
    await recordAudit(sql, { workspaceId, actor, action: "runner.rotate", subject: runnerId })
    return { token }
  })
}
