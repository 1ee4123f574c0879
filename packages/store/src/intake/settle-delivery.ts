import type { Query } from "../database.ts"
import type { DeliveryVerdict } from "./with-intake.ts"

/**
 * Replaces the verdict of a delivery that was accepted and had to be looked at first. One that has its answer keeps it, so that a task that
 * runs again says nothing else.
 */
export async function settleDelivery(
  { sql }: { sql: Query },
  at: { hostId: string; deliveryId: string },
  verdict: DeliveryVerdict,
): Promise<void> {
  await sql`
    update webhook_deliveries set outcome = ${verdict.outcome}, reason = ${verdict.reason}, job_id = ${verdict.jobId ?? null}
    where host_id = ${at.hostId} and delivery_id = ${at.deliveryId} and outcome = 'accepted'`
}
