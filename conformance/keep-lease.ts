import { setTimeout as delay } from "node:timers/promises"
import { GalleyError } from "@galley/contract/errors"
import type { Heartbeat, Lease } from "@galley/contract/protocol"
import { heartbeat, mayPass, type Server } from "./protocol-client.ts"

/** Why a lease is worth no more work. */
export type LeaseEnd = "cancel" | "superseded" | "lease_lost"

/** The rest of the lease is for killing an engine, before the server gives the job to somebody else. */
const USABLE_SHARE = 0.93
/** Part of the interval after which a heartbeat without an answer is sent again. */
const RETRY_SHARE = 0.1

/**
 * Renews a lease until `finished`, the first time at once: nobody knows how long the lease was on its way.
 *
 * @returns why the work has to stop: the server's word, or no answered heartbeat in time by this machine's monotonic clock, counted from
 * before it was sent; null once `finished`
 */
export async function keepLease(server: Server, lease: Lease, beat: Heartbeat, finished: AbortSignal): Promise<LeaseEnd | null> {
  let renewedAt = performance.now()
  while (!finished.aborted) {
    const sentAt = performance.now()
    const leftMs = Math.ceil(renewedAt + lease.leaseMs * USABLE_SHARE - sentAt)
    if (leftMs <= 0) return "lease_lost"
    let pauseMs = lease.heartbeatMs
    try {
      const { action } = await heartbeat(server, lease, beat, AbortSignal.any([finished, AbortSignal.timeout(leftMs)]))
      if (action !== "continue") return action
      renewedAt = sentAt
    } catch (error) {
      // Only the server's word ends a lease at once; a broken line is tried again until the time is up.
      if (error instanceof GalleyError && !mayPass(error)) return "lease_lost"
      pauseMs = Math.min(lease.heartbeatMs * RETRY_SHARE, leftMs)
    }
    await delay(pauseMs, undefined, { signal: finished }).catch(() => undefined)
  }
  return null
}
