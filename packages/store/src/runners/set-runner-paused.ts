import { recordAudit } from "../audit/record-audit.ts"
import type { Store } from "../database.ts"
import { inTransaction } from "../transaction.ts"
import { lockRunner, type RunnerChange } from "./lock-runner.ts"

/**
 * A paused runner gets no new lease; what it works on it may finish. Throws `not_found`.
 *
 * @param pause why, in a few words for other people (may be empty); null lets the runner lease again
 */
export async function setRunnerPaused(store: Store, change: RunnerChange, pause: { note: string } | null): Promise<void> {
  const { workspaceId, runnerId, actor } = change
  await inTransaction(store, async ({ sql }) => {
    await lockRunner(sql, change)
    await sql`
      update runners set paused = ${pause !== null}, paused_note = ${pause?.note ?? ""},
        paused_by = ${pause && actor}, paused_at = ${pause && sql`clock_timestamp()`}
      where id = ${runnerId}`
    await recordAudit(sql, {
      workspaceId,
      actor,
      action: pause ? "runner.pause" : "runner.resume",
      subject: runnerId,
      details: { ...pause },
    })
  })
}
