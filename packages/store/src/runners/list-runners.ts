import { and, asc, eq, isNull, or, sql } from "drizzle-orm"
import type { Store } from "../database.ts"
import { reviewJobs, reviewRuns, runners } from "../schema.ts"

export interface RunnerSummary extends Omit<typeof runners.$inferSelect, "tokenHash"> {
  /** Leases it holds now. */
  running: number
}

/** Runners of a workspace and those that work for all, by name. */
export async function listRunners({ db }: Store, workspaceId: string): Promise<RunnerSummary[]> {
  const running = db
    .select({ runnerId: reviewRuns.runnerId, count: sql<number>`count(*)::int`.as("count") })
    .from(reviewJobs)
    .innerJoin(reviewRuns, eq(reviewRuns.id, reviewJobs.runId))
    .where(and(eq(reviewJobs.state, "running"), eq(reviewJobs.workspaceId, workspaceId)))
    .groupBy(reviewRuns.runnerId)
    .as("running")
  const rows = await db
    .select({ runner: runners, running: running.count })
    .from(runners)
    .leftJoin(running, eq(running.runnerId, runners.id))
    .where(or(eq(runners.workspaceId, workspaceId), isNull(runners.workspaceId)))
    .orderBy(asc(runners.name))
  return rows.map(({ runner: { tokenHash: _, ...runner }, running: count }) => ({ ...runner, running: count ?? 0 }))
}
