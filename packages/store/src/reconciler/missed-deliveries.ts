import type { PendingQuery, Row } from "postgres"
import type { Query, Store } from "../database.ts"
import { REDELIVERY_DAYS } from "./scan-deliveries.ts"

/** A delivery is asked for so often at most; what fails then fails for a reason that sending it again does not mend. */
export const MAX_REDELIVERY_REQUESTS = 3
/** After the first request; four times as long after each further one. */
const FIRST_PAUSE_MINUTES = 10

export interface MissedDelivery {
  deliveryId: string
  /** GitHub's id of an attempt, in digits. */
  attemptId: string
  event: string
}

/** A delivery that failed: nobody took it, and GitHub still has it. */
export const isLost = (sql: Query): PendingQuery<Row[]> => sql`
  not m.succeeded and m.delivered_at > clock_timestamp() - ${REDELIVERY_DAYS} * interval '1 day'
    and not exists (select from webhook_deliveries d where d.host_id = m.host_id and d.delivery_id = m.delivery_id)`

/** Failed deliveries that may be asked for again now, oldest first, so that events come in their order. */
export async function listMissedDeliveries({ sql }: Store, hostId: string, limit: number): Promise<MissedDelivery[]> {
  return sql<MissedDelivery[]>`
    select m.delivery_id as "deliveryId", m.attempt_id as "attemptId", m.event from missed_deliveries m
    where m.host_id = ${hostId} and m.requests < ${MAX_REDELIVERY_REQUESTS} and ${isLost(sql)}
      and (m.requested_at is null
        or m.requested_at < clock_timestamp() - ${FIRST_PAUSE_MINUTES} * power(4, m.requests - 1) * interval '1 minute')
    order by m.delivered_at, m.attempt_id
    limit ${limit}`
}

/** Counts a request before it is made, so that a server that dies in between cannot ask without end. */
export async function countRedeliveryRequest({ sql }: Store, hostId: string, deliveryId: string): Promise<void> {
  await sql`
    update missed_deliveries set requests = requests + 1, requested_at = clock_timestamp()
    where host_id = ${hostId} and delivery_id = ${deliveryId}`
}

/** Takes a counted request back that GitHub refused to look at. */
export async function uncountRedeliveryRequest({ sql }: Store, hostId: string, deliveryId: string): Promise<void> {
  await sql`
    update missed_deliveries set requests = requests - 1, requested_at = null
    where host_id = ${hostId} and delivery_id = ${deliveryId} and requests > 0`
}
