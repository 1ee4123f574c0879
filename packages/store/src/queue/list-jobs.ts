import { and, desc, eq, inArray } from "drizzle-orm"
import type { Store } from "../database.ts"
import { projects, pullRequests, reviewJobs } from "../schema.ts"
import type { JobState } from "./job.ts"

export interface JobSummary {
  job: Omit<typeof reviewJobs.$inferSelect, "leaseTokenHash">
  project: Pick<typeof projects.$inferSelect, "id" | "owner" | "name">
  pullRequest: Pick<typeof pullRequests.$inferSelect, "id" | "number" | "title" | "webUrl">
}

/** Jobs of a workspace in the given states, newest first, at most 200. */
export async function listJobs({ db }: Store, workspaceId: string, states: readonly JobState[], limit = 200): Promise<JobSummary[]> {
  const rows = await db
    .select({
      job: reviewJobs,
      project: { id: projects.id, owner: projects.owner, name: projects.name },
      pullRequest: { id: pullRequests.id, number: pullRequests.number, title: pullRequests.title, webUrl: pullRequests.webUrl },
    })
    .from(reviewJobs)
    .innerJoin(projects, eq(projects.id, reviewJobs.projectId))
    .innerJoin(pullRequests, eq(pullRequests.id, reviewJobs.pullRequestId))
    .where(and(eq(reviewJobs.workspaceId, workspaceId), inArray(reviewJobs.state, [...states])))
    .orderBy(desc(reviewJobs.createdAt))
    .limit(limit)
  return rows.map(({ job: { leaseTokenHash: _, ...job }, ...rest }) => ({ job, ...rest }))
}
