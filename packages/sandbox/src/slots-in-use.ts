import { GalleyError } from "@galley/contract/errors"
import { type ProcessFacts, readProcesses } from "./processes.ts"
import type { Slot } from "./slot.ts"

/**
 * Refuses slots that a living runner holds: sweeping them would end its engines, and stopping would take its rules away. A runner is known by
 * its user together with a slot's group, which nothing else has.
 *
 * Throws `boundary_unavailable`; a runner that is still draining ends by itself, so the start can be tried again.
 */
export function assertSlotsFree(slots: readonly Slot[], runnerUid: number, processes: readonly ProcessFacts[] = readProcesses()): void {
  const groups = new Set(slots.map((slot) => slot.gid))
  const holder = processes.find((process) => process.uids.includes(runnerUid) && process.groups.some((group) => groups.has(group)))
  if (holder !== undefined) {
    throw new GalleyError(
      "boundary_unavailable",
      `process ${holder.pid} is a runner with the same slots; give each runner slot users of its own`,
    )
  }
}
