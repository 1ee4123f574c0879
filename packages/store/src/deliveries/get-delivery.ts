import { GalleyError } from "@galley/contract/errors"
import { and, eq } from "drizzle-orm"
import type { Store } from "../database.ts"
import { reviewJobs, webhookDeliveries } from "../schema.ts"

/** One delivery with what became of it, and of the job it queued. */
export interface DeliveryStory {
  delivery: typeof webhookDeliveries.$inferSelect
  /** Null when it queued none, or the job was removed since. */
  job: Pick<typeof reviewJobs.$inferSelect, "id" | "state" | "code" | "detail" | "headSha" | "reviewKind" | "runId"> | null
}

/** Answers "why no review?" for one `X-GitHub-Delivery`. Throws `not_found`, also for a delivery of another workspace. */
export async function getDelivery({ db }: Store, workspaceId: string, deliveryId: string): Promise<DeliveryStory> {
  const [row] = await db
    .select({
      delivery: webhookDeliveries,
      job: {
        id: reviewJobs.id,
        state: reviewJobs.state,
        code: reviewJobs.code,
        detail: reviewJobs.detail,
        headSha: reviewJobs.headSha,
        reviewKind: reviewJobs.reviewKind,
        runId: reviewJobs.runId,
      },
    })
    .from(webhookDeliveries)
    .leftJoin(reviewJobs, and(eq(reviewJobs.id, webhookDeliveries.jobId), eq(reviewJobs.workspaceId, workspaceId)))
    .where(and(eq(webhookDeliveries.workspaceId, workspaceId), eq(webhookDeliveries.deliveryId, deliveryId)))
    .limit(1)
  if (!row) throw new GalleyError("not_found", "no such delivery")
  return row
}
