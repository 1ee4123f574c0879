import { setTimeout as delay } from "node:timers/promises"
import { GalleyError } from "@galley/contract/errors"
import { type ProcessFacts, processesBelow, processesOfUser, readProcesses } from "./processes.ts"
import type { BoundaryMode, Slot } from "./slot.ts"

const SWEEP_TIMEOUT_MS = 10_000
const ROUND_MS = 20

/** Sends SIGKILL to a process group. It is not the guarantee: whatever called setsid is in another group. */
export function killGroup(leader: number): void {
  if (leader > 1) signal(-leader, "SIGKILL")
}

/**
 * Ends everything an engine started and waits until it is gone.
 *
 * `enforced`: the groups, then every process of the slot's user, however it detached itself.
 * `demo`: the slot's user is the runner's own, so only `leaders` with their groups, sessions and descendants.
 *
 * @param leaders pids of the launched processes, as far as known
 * @throws `boundary_unavailable` when processes are left after `timeoutMs`
 */
export async function sweepSlot(
  slot: Slot,
  boundary: BoundaryMode,
  leaders: readonly number[] = [],
  timeoutMs: number = SWEEP_TIMEOUT_MS,
): Promise<void> {
  const deadline = performance.now() + timeoutMs
  const find = boundary === "enforced" ? findByUser(slot.uid) : findBelow(leaders)
  for (let left = find(); left.length > 0; left = find()) {
    if (performance.now() > deadline)
      throw new GalleyError("boundary_unavailable", `${left.length} processes of slot ${slot.index} could not be ended`)
    // stopped first, so that nothing forks while the others are killed
    for (const { pid } of left) signal(pid, "SIGSTOP")
    for (const { pid } of left) signal(pid, "SIGKILL")
    for (const leader of leaders) killGroup(leader)
    await delay(ROUND_MS)
  }
}

const findByUser = (uid: number) => {
  if (uid === 0 || uid === process.getuid?.()) throw new GalleyError("boundary_unavailable", "a slot must not share the runner's user")
  return () => processesOfUser(readProcesses(), uid)
}

/** Remembers what it saw: a process whose parent was killed has lost its place in the tree. */
function findBelow(leaders: readonly number[]): () => ProcessFacts[] {
  const roots = new Set(leaders.filter((leader) => leader > 1))
  return () => {
    const processes = readProcesses()
    const found = new Map([...roots].flatMap((root) => processesBelow(processes, root).map((facts) => [facts.pid, facts] as const)))
    for (const { pid } of found.values()) roots.add(pid)
    found.delete(process.pid)
    return [...found.values()]
  }
}

function signal(pid: number, name: "SIGSTOP" | "SIGKILL"): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return
    throw new GalleyError("boundary_unavailable", `${name} to process ${Math.abs(pid)} was refused`, { cause: error })
  }
}
