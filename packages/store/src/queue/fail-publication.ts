import type { GalleyErrorCode } from "@galley/contract/errors"
import type { Store } from "../database.ts"
import { inTransaction } from "../transaction.ts"

/**
 * Gives a publication up for good, e.g. `publish_locked`. The result and the last good comment stay; passing faults are retried by the
 * task instead. A publication that a newer one overtook (`publish_stale`) is superseded, not failed. Does nothing when the job is no
 * longer publishing.
 */
export async function failPublication(
  store: Store,
  failed: { workspaceId: string; jobId: string; code: GalleyErrorCode; detail: string },
): Promise<void> {
  await inTransaction(store, async (tx) => {
    const [job] = await tx.sql<[{ runId: string }?]>`
      update review_jobs set state = ${failed.code === "publish_stale" ? "superseded" : "failed"}, code = ${failed.code}, detail = ${failed.detail}, finished_at = clock_timestamp()
      where id = ${failed.jobId} and workspace_id = ${failed.workspaceId} and state = 'publishing'
      returning run_id as "runId"`
    if (!job) return
    tx.wakeRuns(failed.workspaceId, job.runId)
    tx.wakeJobs(0)
  })
}
