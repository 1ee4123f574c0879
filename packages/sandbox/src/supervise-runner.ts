import { spawn } from "node:child_process"
import { once } from "node:events"
import { asRunner, DEFAULT_RUNNER_UID } from "./drop.ts"
import { loadEgressRules, removeEgressRules } from "./egress-rules.ts"
import { sweepJobRoot } from "./job-directory.ts"
import { type JobRoot, prepareJobRoot, releaseJobRoot } from "./job-root.ts"
import type { Slot } from "./slot.ts"
import { removeSlotFiles } from "./slot-files.ts"
import { assertSlotsFree } from "./slots-in-use.ts"
import { sweepSlot } from "./sweep.ts"

export type Supervision = Readonly<{
  slots: readonly Slot[]
  /** The runner's program (absolute path) and arguments; the runner's user must be able to read it. */
  argv: readonly [string, ...string[]]
  /** The runner's whole environment. */
  env: Readonly<Record<string, string>>
  runnerUid?: number
  jobRoot: Readonly<{ path: string; sizeBytes: number }>
  /** Asks the runner to end (SIGTERM). */
  signal: AbortSignal
  /** Milliseconds the runner has to end by itself. */
  graceMs: number
  onJobRoot?: (root: JobRoot) => void
}>

/**
 * The root part of a runner: makes the boundary, runs the runner without root's rights, and leaves nothing behind: no process of a
 * slot's user, no rules, no job directory. Handles nothing from outside.
 *
 * @returns the runner's exit code; 128 + 9 when it had to be killed
 * @throws `boundary_unavailable` when the boundary cannot be made; the runner is not started then
 */
export async function superviseRunner(supervision: Supervision): Promise<number> {
  const { slots, jobRoot, runnerUid = DEFAULT_RUNNER_UID } = supervision
  assertSlotsFree(slots, runnerUid)
  for (const slot of slots) await sweepSlot(slot, "enforced")
  let root: JobRoot | null = null
  try {
    await loadEgressRules(slots, supervision.signal)
    root = await prepareJobRoot({ ...jobRoot, runnerUid })
    supervision.onJobRoot?.(root)
    return await runDropped(supervision, runnerUid)
  } finally {
    await cleanUp(slots, root)
  }
}

async function runDropped({ argv, env, slots, signal, graceMs }: Supervision, runnerUid: number): Promise<number> {
  const [command, ...args] = asRunner(argv, slots, runnerUid)
  const child = spawn(command, args, { cwd: "/", env, stdio: ["ignore", "inherit", "inherit"] })
  let killTimer: NodeJS.Timeout | undefined
  const stop = () => {
    child.kill("SIGTERM")
    killTimer = setTimeout(() => child.kill("SIGKILL"), graceMs)
  }
  signal.addEventListener("abort", stop)
  try {
    if (signal.aborted) stop()
    const [code] = (await once(child, "exit")) as [number | null]
    return code ?? 137
  } finally {
    signal.removeEventListener("abort", stop)
    clearTimeout(killTimer)
  }
}

/** The processes go before the rules, so that nothing an engine left is ever without rules. */
async function cleanUp(slots: readonly Slot[], root: JobRoot | null): Promise<void> {
  for (const slot of slots) await sweepSlot(slot, "enforced")
  await removeEgressRules(slots)
  if (root) {
    await sweepJobRoot(root.path, slots, "enforced")
    await releaseJobRoot(root)
  }
  for (const slot of slots) await removeSlotFiles(slot)
}
