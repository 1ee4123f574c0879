import type { Store } from "../database.ts"
import { REDELIVERY_DAYS } from "../reconciler/scan-deliveries.ts"
import { BATCH_ROWS, inBatches } from "./in-batches.ts"

/**
 * Removes deliveries received longer ago than `days`, and what is remembered of missed ones that GitHub no longer has.
 *
 * @param days more than `REDELIVERY_DAYS`, or a delivery that was taken would look missed
 * @returns how many deliveries were removed
 */
export async function sweepDeliveries({ sql }: Store, days: number, signal: AbortSignal): Promise<number> {
  await inBatches(async () => {
    const swept = await sql`
      delete from missed_deliveries where ctid = any(array(
        select ctid from missed_deliveries
        where delivered_at < now() - ${REDELIVERY_DAYS + 1} * interval '1 day' limit ${BATCH_ROWS}))`
    return swept.count
  }, signal)
  return inBatches(async () => {
    const swept = await sql`
      delete from webhook_deliveries where ctid = any(array(
        select ctid from webhook_deliveries where received_at < now() - ${days} * interval '1 day' limit ${BATCH_ROWS}))`
    return swept.count
  }, signal)
}
