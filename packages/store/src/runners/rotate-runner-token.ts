import { GalleyError } from "@galley/contract/errors"
import { recordAudit } from "../audit/record-audit.ts"
import type { Store } from "../database.ts"
import { inTransaction } from "../transaction.ts"
import { lockRunner, type RunnerChange } from "./lock-runner.ts"
import { createRunnerToken, hashRunnerToken } from "./runner-token.ts"

/**
 * Gives a runner a new token, which is seen once. The old one goes on working for `overlapMs`, so that running reviews end undisturbed and
 * machines are changed over one after the other; 0 ends it at once, leases held with it included.
 *
 * Throws `not_found`, and `runner_token_overlaps` while the token before the old one still works: at most two work at a time, and a form
 * that is sent twice takes nothing away.
 */
export async function rotateRunnerToken(store: Store, change: RunnerChange, overlapMs: number): Promise<{ token: string }> {
  const token = createRunnerToken()
  return inTransaction(store, async ({ sql }) => {
    const { overlaps } = await lockRunner(sql, change)
    if (overlaps) throw new GalleyError("runner_token_overlaps", "end the old token before you rotate again")
    const overlap = overlapMs > 0 ? sql`clock_timestamp() + ${overlapMs}::float8 * interval '1 millisecond'` : null
    await sql`
      update runners set token_hash = ${hashRunnerToken(token)}, previous_token_used_at = null,
        previous_token_hash = ${overlap === null ? null : sql`token_hash`}, previous_token_until = ${overlap}
      where id = ${change.runnerId}`
    const { workspaceId, runnerId, actor } = change
    await recordAudit(sql, { workspaceId, actor, action: "runner.rotate", subject: runnerId, details: { overlapMs } })
    return { token }
  })
}
