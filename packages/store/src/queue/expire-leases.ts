import type { Store } from "../database.ts"
import { wakeJobs, wakeRuns } from "../transaction.ts"
import type { JobState } from "./job.ts"

export interface ExpiredLease {
  jobId: string
  runId: string
  workspaceId: string
  /** What became of the job. */
  state: JobState
}

/** Settles up to 100 jobs whose lease ran out. Claims do the same by the way; this keeps it going while no runner asks. */
export async function expireLeases(store: Store): Promise<ExpiredLease[]> {
  const expired = await store.sql<ExpiredLease[]>`
    select job_id as "jobId", run_id as "runId", workspace_id as "workspaceId", state from expire_review_leases()`
  for (const { workspaceId, runId } of expired) wakeRuns(store, workspaceId, runId)
  if (expired.length > 0) wakeJobs(store, 0)
  return [...expired]
}
