import { and, desc, eq } from "drizzle-orm"
import type { Store } from "../database.ts"
import { pullRequests, reviewJobs, webhookDeliveries } from "../schema.ts"

/** What happened for a pull request: deliveries with their reasons, and jobs with their codes, newest first, 50 of each. */
export interface ReviewHistory {
  deliveries: (typeof webhookDeliveries.$inferSelect)[]
  jobs: Omit<typeof reviewJobs.$inferSelect, "leaseTokenHash">[]
}

/** Answers "why no review?". Empty for a pull request Galley never heard of. */
export async function whyNoReview({ db }: Store, workspaceId: string, projectId: string, number: number): Promise<ReviewHistory> {
  const deliveries = await db
    .select()
    .from(webhookDeliveries)
    .where(
      and(
        eq(webhookDeliveries.workspaceId, workspaceId),
        eq(webhookDeliveries.projectId, projectId),
        eq(webhookDeliveries.pullRequestNumber, number),
      ),
    )
    .orderBy(desc(webhookDeliveries.receivedAt))
    .limit(50)
  const rows = await db
    .select({ job: reviewJobs })
    .from(reviewJobs)
    .innerJoin(pullRequests, eq(pullRequests.id, reviewJobs.pullRequestId))
    .where(and(eq(pullRequests.workspaceId, workspaceId), eq(pullRequests.projectId, projectId), eq(pullRequests.number, number)))
    .orderBy(desc(reviewJobs.createdAt))
    .limit(50)
  return { deliveries, jobs: rows.map(({ job: { leaseTokenHash: _, ...job } }) => job) }
}
