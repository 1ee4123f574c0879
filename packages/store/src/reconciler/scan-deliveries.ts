import type { Store } from "../database.ts"
import { inTransaction } from "../transaction.ts"

/** GitHub sends no delivery again that is older than three days. */
export const REDELIVERY_DAYS = 3
/** An attempt may be listed a little after it was made, so passes overlap. */
const OVERLAP_MINUTES = 10
/** A page this old is not gone on from: GitHub's cursors do not last, and what came since is missing. */
const ABANDONED_MINUTES = 60

/** Where reading GitHub's list of deliveries goes on. */
export interface DeliveryScan {
  /** Null: at the newest delivery. */
  cursor: string | null
  /** The pass is complete with the first delivery older than this. */
  readUntil: Date
}

/** One attempt as GitHub lists it. */
export interface ListedAttempt {
  attemptId: string
  deliveryId: string
  event: string
  deliveredAt: Date
  succeeded: boolean
}

/** Goes on with the pass under way, or begins one. */
export async function openDeliveryScan({ sql }: Store, hostId: string): Promise<DeliveryScan> {
  const abandoned = sql`
    (s.cursor is null or s.page_read_at < clock_timestamp() - ${ABANDONED_MINUTES} * interval '1 minute')`
  const [scan] = await sql<[DeliveryScan]>`
    insert into delivery_scans as s (host_id, pass_started_at) values (${hostId}, clock_timestamp())
    on conflict (host_id) do update set
      pass_started_at = case when ${abandoned} then clock_timestamp() else s.pass_started_at end,
      cursor = case when ${abandoned} then null else s.cursor end
    returning cursor, greatest(
      scanned_until - ${OVERLAP_MINUTES} * interval '1 minute',
      clock_timestamp() - ${REDELIVERY_DAYS} * interval '1 day') as "readUntil"`
  return scan
}

/**
 * Keeps one page of the list and where the next one begins, together, so that a pass that is broken off goes on where it stopped.
 * Attempts of deliveries that were taken are left out.
 *
 * @param nextCursor null when the pass is complete
 */
export async function recordDeliveryPage(
  store: Store,
  hostId: string,
  attempts: readonly ListedAttempt[],
  nextCursor: string | null,
): Promise<void> {
  await inTransaction(store, async ({ sql }) => {
    await sql`
      insert into missed_deliveries as m (host_id, delivery_id, attempt_id, event, delivered_at, succeeded)
      select ${hostId}, a."deliveryId", (array_agg(a."attemptId" order by a."deliveredAt" desc))[1], min(a.event), min(a."deliveredAt"),
        bool_or(a.succeeded)
      from jsonb_to_recordset(${sql.json(attempts.map((attempt) => ({ ...attempt, deliveredAt: attempt.deliveredAt.toISOString() })))})
        as a ("attemptId" text, "deliveryId" text, event text, "deliveredAt" timestamptz, succeeded boolean)
      where not exists (select from webhook_deliveries d where d.host_id = ${hostId} and d.delivery_id = a."deliveryId")
      group by a."deliveryId"
      order by a."deliveryId"
      on conflict (host_id, delivery_id) do update set
        succeeded = m.succeeded or excluded.succeeded,
        delivered_at = least(m.delivered_at, excluded.delivered_at)`
    await sql`
      update delivery_scans set cursor = ${nextCursor}, page_read_at = clock_timestamp(),
        scanned_until = ${nextCursor === null ? sql`pass_started_at` : sql`scanned_until`}
      where host_id = ${hostId}`
  })
}
