import { recordAudit } from "../audit/record-audit.ts"
import type { Store } from "../database.ts"
import { inTransaction } from "../transaction.ts"

/** Sets the bound on jobs that run at once; 0 stops leasing. */
export async function setMaxRunningJobs(store: Store, workspaceId: string, maxRunningJobs: number, actor: string): Promise<void> {
  await inTransaction(store, async (tx) => {
    await tx.sql`update workspaces set max_running_jobs = ${maxRunningJobs} where id = ${workspaceId}`
    await recordAudit(tx.sql, { workspaceId, actor, action: "workspace.limits", subject: workspaceId, details: { maxRunningJobs } })
    tx.wakeJobs(0)
  })
}
