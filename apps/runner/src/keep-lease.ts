import { setTimeout as delay } from "node:timers/promises"
import { GalleyError } from "@galley/contract/errors"
import type { HeartbeatAnswer, Lease } from "@galley/contract/protocol"

/** What ended the lease from outside: the reason of the abort signal that `keepLease` gives. */
export type LeaseEnd = "cancel" | "superseded" | "lease_lost"

export class LeaseEnded extends Error {
  override readonly name = "LeaseEnded"
  readonly end: LeaseEnd

  constructor(end: LeaseEnd) {
    super(`the lease ended: ${end}`)
    this.end = end
  }
}

/** After a broken heartbeat the next one comes sooner: after this part of the interval, at the end of the lease down to the second one. */
const RETRY_SHARE = 0.2
const SHORTEST_RETRY_SHARE = 0.01
/** Part of the lease kept in reserve for killing the engine before the server gives the job away: about 4 s, an engine is dead in 1 to 2. */
const SAFETY_SHARE = 0.07

/**
 * Renews a lease until `stop` is called, the first time at once: nobody knows how long the lease was on its way. The returned signal aborts
 * with a `LeaseEnded` when the server says cancel or superseded, when it calls the lease lost, or when no renewal came through in time by
 * this machine's monotonic clock: then the server may give the job to another runner, so the work here must be over before.
 */
export function keepLease(
  lease: Pick<Lease, "leaseMs" | "heartbeatMs">,
  beat: (signal: AbortSignal) => Promise<HeartbeatAnswer>,
): { signal: AbortSignal; stop: () => Promise<void> } {
  const ended = new AbortController()
  const stopped = new AbortController()
  const allowedMs = lease.leaseMs * (1 - SAFETY_SHARE)

  const end = (reason: LeaseEnd) => {
    if (!ended.signal.aborted && !stopped.signal.aborted) ended.abort(new LeaseEnded(reason))
  }
  const renew = async () => {
    let renewedAt = performance.now()
    let waitMs = 0
    while (!stopped.signal.aborted && !ended.signal.aborted) {
      const leftMs = renewedAt + allowedMs - performance.now()
      if (leftMs <= 0) return end("lease_lost")
      const pauseMs = Math.min(waitMs, Math.max(leftMs / 2, lease.heartbeatMs * SHORTEST_RETRY_SHARE))
      await delay(pauseMs, undefined, { signal: stopped.signal }).catch(() => undefined)
      if (stopped.signal.aborted) return
      const sentAt = performance.now()
      const deadline = AbortSignal.timeout(Math.max(1, Math.ceil(renewedAt + allowedMs - sentAt)))
      try {
        const answer = await beat(AbortSignal.any([stopped.signal, deadline]))
        // Counted from before the request: the server's clock started at the latest when it answered.
        renewedAt = sentAt
        waitMs = lease.heartbeatMs
        if (answer.action !== "continue") end(answer.action)
      } catch (error) {
        // Only the server's word ends a lease at once; a broken line is tried again until the time is up.
        if (error instanceof GalleyError && ["lease_lost", "runner_unauthorized"].includes(error.code)) end("lease_lost")
        waitMs = lease.heartbeatMs * RETRY_SHARE
      }
    }
  }
  const done = renew()
  return {
    signal: ended.signal,
    stop: async () => {
      stopped.abort()
      await done
    },
  }
}
