import { and, asc, eq, isNull, max, or, sql } from "drizzle-orm"
import type { Store } from "../database.ts"
import { reviewJobs, reviewRuns, runners } from "../schema.ts"

export interface RunnerSummary extends Omit<typeof runners.$inferSelect, "tokenHash" | "previousTokenHash" | "removedAt"> {
  /** Last poll, or last heartbeat of a lease: a runner whose slots are all busy polls no more. */
  lastSeenAt: Date | null
  /** Leases of this workspace that it holds now. */
  running: number
}

/** Runners of a workspace and those that work for all, by name. */
export async function listRunners({ db }: Store, workspaceId: string): Promise<RunnerSummary[]> {
  const busy = db
    .select({
      runnerId: reviewRuns.runnerId,
      running: sql<number>`(count(*) filter (where ${reviewJobs.workspaceId} = ${workspaceId}))::int`.as("running"),
      heardAt: max(reviewRuns.heartbeatAt).as("heard_at"),
    })
    .from(reviewJobs)
    .innerJoin(reviewRuns, eq(reviewRuns.id, reviewJobs.runId))
    .where(eq(reviewJobs.state, "running"))
    .groupBy(reviewRuns.runnerId)
    .as("busy")
  const rows = await db
    .select({ runner: runners, running: busy.running, heardAt: busy.heardAt })
    .from(runners)
    .leftJoin(busy, eq(busy.runnerId, runners.id))
    .where(and(or(eq(runners.workspaceId, workspaceId), isNull(runners.workspaceId)), isNull(runners.removedAt)))
    .orderBy(asc(runners.name))
  return rows.map(({ runner: { tokenHash: _, previousTokenHash: __, removedAt: ___, ...runner }, running, heardAt }) => ({
    ...runner,
    lastSeenAt: latest(runner.lastSeenAt, heardAt),
    running: running ?? 0,
  }))
}

function latest(one: Date | null, other: Date | null): Date | null {
  if (one === null || other === null) return one ?? other
  return one > other ? one : other
}
