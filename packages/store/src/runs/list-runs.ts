import { and, eq } from "drizzle-orm"
import type { Store } from "../database.ts"
import { reviewJobs, reviewRuns } from "../schema.ts"
import { type RunSummary, selectRuns } from "./run-summary.ts"

export interface RunFilter {
  projectId?: string
  pullRequestId?: string
  /** Only leases that this runner holds now. */
  heldBy?: string
  limit?: number
}

/** Runs of a workspace, newest first, 50 at a time. */
export async function listRuns(store: Store, workspaceId: string, filter: RunFilter = {}): Promise<RunSummary[]> {
  return selectRuns(store, filter.limit ?? 50, [
    eq(reviewRuns.workspaceId, workspaceId),
    filter.projectId ? eq(reviewRuns.projectId, filter.projectId) : undefined,
    filter.pullRequestId ? eq(reviewRuns.pullRequestId, filter.pullRequestId) : undefined,
    filter.heldBy
      ? and(eq(reviewRuns.runnerId, filter.heldBy), eq(reviewRuns.id, reviewJobs.runId), eq(reviewJobs.state, "running"))
      : undefined,
  ])
}
