import { errorCode } from "@galley/contract/errors"
import { listHookDeliveries, requestRedelivery } from "@galley/github/hook-deliveries"
import {
  countRedeliveryRequest,
  listMissedDeliveries,
  type MissedDelivery,
  uncountRedeliveryRequest,
} from "@galley/store/reconciler/missed-deliveries"
import { openDeliveryScan, recordDeliveryPage } from "@galley/store/reconciler/scan-deliveries"
import type { ServerContext } from "../context.ts"

/** What one run may cost; the next run goes on where it stopped. */
export type DeliveryBounds = Readonly<{ pages: number; requests: number }>
const defaultBounds: DeliveryBounds = { pages: 20, requests: 30 }

/**
 * GitHub sends a failed delivery only once. This reads its list of deliveries of the last three days and asks for those again that nobody
 * took. One bounded run: where it stops, by its bounds, by `signal`, by a fault or by SIGKILL, the next one goes on.
 *
 * @returns how many deliveries were asked for
 * @throws codes of `githubFault`, e.g. `github_rate_limited`
 */
export async function reconcileDeliveries(
  context: ServerContext,
  signal: AbortSignal,
  bounds: DeliveryBounds = defaultBounds,
): Promise<number> {
  // Only a whole pass tells that no attempt of a delivery succeeded.
  if (!(await scanDeliveries(context, signal, bounds.pages))) return 0
  let asked = 0
  for (const missed of await listMissedDeliveries(context.store, context.hostId, bounds.requests)) {
    if (signal.aborted) break
    await askAgain(context, missed)
    asked++
  }
  return asked
}

/** @returns whether the pass was completed */
async function scanDeliveries({ store, github, hostId }: ServerContext, signal: AbortSignal, pages: number): Promise<boolean> {
  const { cursor: begin, readUntil } = await openDeliveryScan(store, hostId)
  let cursor = begin
  for (let page = 0; page < pages && !signal.aborted; page++) {
    const { deliveries, nextCursor } = await listHookDeliveries(github.asApp, cursor)
    const fresh = deliveries.filter(({ deliveredAt }) => deliveredAt >= readUntil)
    cursor = fresh.length < deliveries.length ? null : nextCursor
    await recordDeliveryPage(store, hostId, fresh, cursor)
    if (cursor === null) return true
  }
  return false
}

async function askAgain({ store, github, hostId, log }: ServerContext, { deliveryId, attemptId, event }: MissedDelivery): Promise<void> {
  await countRedeliveryRequest(store, hostId, deliveryId)
  try {
    await requestRedelivery(github.asApp, attemptId)
    log.info({ deliveryId, event }, "delivery asked for again")
  } catch (error) {
    if (errorCode(error) === "github_rate_limited") await uncountRedeliveryRequest(store, hostId, deliveryId)
    // GitHub forgot it: the others are not held up by it.
    if (errorCode(error) !== "not_found") throw error
    log.warn({ deliveryId, event }, "GitHub no longer has the delivery")
  }
}
