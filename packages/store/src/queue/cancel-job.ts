import { GalleyError } from "@galley/contract/errors"
import { recordAudit } from "../audit/record-audit.ts"
import type { Store } from "../database.ts"
import { inTransaction } from "../transaction.ts"

/**
 * A person stops a job: a waiting one at once, a running one with its runner's next heartbeat or with its result, whichever comes first.
 * Throws `not_found` for a job that is not in the workspace, is being published or has ended.
 */
export async function cancelJob(store: Store, workspaceId: string, jobId: string, actor: string): Promise<void> {
  await inTransaction(store, async (tx) => {
    const [job] = await tx.sql<[{ runId: string | null }?]>`
      update review_jobs set
        state = case state when 'waiting' then 'cancelled' else state end,
        code = case state when 'waiting' then 'cancelled_by_user' end,
        cancel_code = 'cancelled_by_user',
        finished_at = case state when 'waiting' then clock_timestamp() end
      where id = ${jobId} and workspace_id = ${workspaceId} and state in ('waiting', 'running')
      returning run_id as "runId"`
    if (!job) throw new GalleyError("not_found", "no waiting or running job with this id")
    await recordAudit(tx.sql, { workspaceId, actor, action: "job.cancel", subject: jobId })
    if (job.runId) tx.wakeRuns(workspaceId, job.runId)
  })
}
