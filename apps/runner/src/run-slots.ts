import { randomUUID } from "node:crypto"
import { setTimeout as delay } from "node:timers/promises"
import { errorCode, GalleyError, type GalleyErrorCode } from "@galley/contract/errors"
import type { Capability, Lease } from "@galley/contract/protocol"
import type { Slot } from "@galley/sandbox/slot"
import type { Logger } from "pino"
import type { ServerClient } from "./server-client.ts"

export type SlotLoopOptions = Readonly<{
  slots: readonly Slot[]
  runnerName: string
  runnerVersion: string
  server: ServerClient
  /** What the idle slot is proved to do right now; empty = nothing may be leased. */
  prove: (slot: Slot) => Promise<readonly Capability[]>
  /** Works on one lease in one slot; never throws. */
  work: (lease: Lease, slot: Slot) => Promise<void>
  /** Each slot ends after its first job, whatever became of it. */
  once: boolean
  /** Stop leasing. */
  stopping: AbortSignal
  log: Logger
}>

const LONG_POLL_MS = 25_000
const FIRST_RETRY_MS = 500
const LONGEST_RETRY_MS = 10_000

/** Others try again after these; a runner for one job must not wait, and cost, until somebody has put things right. */
const endsEphemeral: ReadonlySet<GalleyErrorCode> = new Set(["runner_unauthorized", "runner_too_old", "boundary_unavailable"])

/**
 * Leases and works, one job per slot at a time, until `stopping` or after `once`; resolves when every slot is idle.
 *
 * @throws with `once`, `runner_unauthorized`, `runner_too_old`, and `boundary_unavailable` when a slot proves nothing or cannot
 * be swept: everybody else tries again, for a token or an engine may be set right
 */
export async function runSlots(options: SlotLoopOptions): Promise<void> {
  await Promise.all(options.slots.map((slot) => runSlot(slot, options)))
}

async function runSlot(slot: Slot, options: SlotLoopOptions): Promise<void> {
  const { server, stopping, log } = options
  const pause = (ms: number) => delay(ms, undefined, { signal: stopping }).catch(() => undefined)
  let requestId = randomUUID()
  let retryMs = FIRST_RETRY_MS
  while (!stopping.aborted) {
    try {
      const capabilities = [...(await options.prove(slot))]
      if (capabilities.length === 0) {
        if (options.once) throw new GalleyError("boundary_unavailable", "this runner proved no kind of review; its log says why")
        await pause(LONGEST_RETRY_MS)
        continue
      }
      const lease = await server.lease(
        {
          requestId,
          runnerName: options.runnerName,
          runnerVersion: options.runnerVersion,
          capabilities,
          freeSlots: 1,
          waitMs: LONG_POLL_MS,
        },
        stopping,
      )
      retryMs = FIRST_RETRY_MS
      // Only an answer ends a request: after a broken line the same id is asked again, in case the server had already leased.
      requestId = randomUUID()
      if (lease === null) continue
      await options.work(lease, slot)
      if (options.once) return
    } catch (error) {
      if (stopping.aborted) return
      if (options.once && endsEphemeral.has(errorCode(error))) throw error
      log.warn({ code: errorCode(error), slot: slot.index }, "no lease")
      await pause(retryMs)
      retryMs = Math.min(2 * retryMs, LONGEST_RETRY_MS)
    }
  }
}
