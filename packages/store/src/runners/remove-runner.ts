import { randomBytes } from "node:crypto"
import { recordAudit } from "../audit/record-audit.ts"
import type { Store } from "../database.ts"
import { takeLeaseAway } from "../queue/take-lease-away.ts"
import { inTransaction } from "../transaction.ts"
import { lockRunner, type RunnerChange } from "./lock-runner.ts"

/**
 * Takes a runner out of the fleet: its tokens are refused from now on, and the jobs it works on wait again at once, without counting an
 * attempt. A process that still works on one stops with its next heartbeat, and its result would be refused. Throws `not_found`.
 */
export async function removeRunner(store: Store, change: RunnerChange): Promise<void> {
  const { workspaceId, runnerId, actor } = change
  await inTransaction(store, async ({ sql }) => {
    const { name } = await lockRunner(sql, change)
    await sql`
      update runners set removed_at = clock_timestamp(), token_hash = ${randomBytes(32)}, previous_token_hash = null,
        previous_token_until = null, paused = false, paused_note = '', paused_by = null, paused_at = null,
        capabilities = '[]', version = null, reported_name = null, last_seen_at = null
      where id = ${runnerId}`
    await recordAudit(sql, { workspaceId, actor, action: "runner.remove", subject: runnerId, details: { name } })
  })
  const leases = await store.sql<{ leaseId: string }[]>`
    select r.id as "leaseId" from review_jobs j join review_runs r on r.id = j.run_id
    where (j.state = 'running') is true and r.runner_id = ${runnerId}`
  // One transaction each, so that no two pull requests are held at a time. What is left when this ends early runs out by itself.
  for (const { leaseId } of leases) await takeLeaseAway(store, { leaseId, runnerId })
}
