import { setTimeout as delay } from "node:timers/promises"
import { GalleyError } from "@galley/contract/errors"
import { processesBelow, processesOfUser, readProcesses } from "./processes.ts"
import type { BoundaryMode, Slot } from "./slot.ts"

const INTERVAL_MS = 250

export type MemoryWatch = Readonly<{
  slot: Slot
  boundary: BoundaryMode
  /** Pid of the launched engine. */
  leader: number
  maxBytes: number
  /** Ends the watch. */
  signal: AbortSignal
  intervalMs?: number
}>

/**
 * Adds up the resident memory of a slot's processes four times a second. A container gives no memory group per job, so this is the
 * bound of a job; shared pages count for every process.
 *
 * @returns the peak in bytes, when `signal` aborts
 * @throws `engine_memory_exceeded` as soon as the sum is over `maxBytes`; the caller ends the engine
 */
export async function watchMemory(watch: MemoryWatch): Promise<number> {
  const { slot, boundary, leader, maxBytes, signal, intervalMs = INTERVAL_MS } = watch
  let peak = 0
  while (!signal.aborted) {
    const processes = readProcesses()
    const own = boundary === "enforced" ? processesOfUser(processes, slot.uid) : processesBelow(processes, leader)
    peak = Math.max(
      peak,
      own.reduce((sum, facts) => sum + facts.residentBytes, 0),
    )
    if (peak > maxBytes)
      throw new GalleyError("engine_memory_exceeded", "the engine used more memory than its limit", { details: { peak, maxBytes } })
    await delay(intervalMs, undefined, { signal }).catch(ignoreAbort)
  }
  return peak
}

function ignoreAbort(error: unknown): void {
  if (!(error instanceof Error && error.name === "AbortError")) throw error
}
