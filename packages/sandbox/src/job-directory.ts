import { existsSync } from "node:fs"
import { chmod, chown, lstat, mkdir, readdir } from "node:fs/promises"
import { join } from "node:path"
import { GalleyError } from "@galley/contract/errors"
import { runAsSlot } from "./run-as-slot.ts"
import { requireProgram } from "./run-program.ts"
import type { BoundaryMode, Slot } from "./slot.ts"
import { sweepSlot } from "./sweep.ts"

/** Where one job lives. The checkout adds `tree` and `git` (0700). */
export type JobDirectory = Readonly<{
  path: string
  tree: string
  /** The slot's user may write here; the runner can read what it writes. */
  scratch: string
  /** The runner writes, the slot's user may read. */
  run: string
}>

/**
 * Makes `<root>/<jobId>`: 0750 for the runner and the slot's group, in it `scratch` 2770 and `run` 2750.
 * The runner must be in the slot's group (or be root).
 * Throws `request_invalid` for an id that is no plain name, `boundary_unavailable` when the directory cannot be made.
 */
export async function makeJobDirectory(root: string, jobId: string, slot: Slot, boundary: BoundaryMode): Promise<JobDirectory> {
  const job = jobDirectory(root, jobId)
  const make = async (path: string, mode: number) => {
    await mkdir(path)
    if (boundary === "enforced") await chown(path, -1, slot.gid)
    await chmod(path, mode) // after chown, and free of the umask
  }
  try {
    await make(job.path, 0o750)
    await make(job.scratch, 0o2770)
    await make(job.run, 0o2750)
    return job
  } catch (cause) {
    throw new GalleyError("boundary_unavailable", "the job's directory cannot be made", { cause })
  }
}

function jobDirectory(root: string, jobId: string): JobDirectory {
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/.test(jobId))
    throw new GalleyError("request_invalid", "a job id names its directory: letters, digits, - and _")
  const path = join(root, jobId)
  return { path, tree: join(path, "tree"), scratch: join(path, "scratch"), run: join(path, "run") }
}

/**
 * Deletes a job's directory: first what the slot's user made, as that user (the runner has no right to it), then the rest.
 * The slot's processes must be gone. Throws `boundary_unavailable` when something is left.
 */
export async function removeJobDirectory(job: Pick<JobDirectory, "path" | "scratch">, slot: Slot, boundary: BoundaryMode): Promise<void> {
  if (boundary === "enforced" && existsSync(job.scratch)) {
    // each directory is opened before find enters it
    const program = `find "$1" -mindepth 1 -type d ! -perm -700 -exec chmod u+rwx {} \\; ; find "$1" -mindepth 1 -delete`
    await runAsSlot(slot, boundary, ["/bin/bash", "-c", program, "remove", job.scratch])
  }
  if (!existsSync(job.path)) return
  await requireProgram("find", [job.path, "-type", "d", "!", "-perm", "-700", "-exec", "chmod", "u+rwx", "{}", ";"])
  await requireProgram("rm", ["-rf", "--", job.path])
}

/** At the runner's start: ends what engines of an earlier runner left running and deletes every job directory in the root. */
export async function sweepJobRoot(root: string, slots: readonly Slot[], boundary: BoundaryMode): Promise<void> {
  if (boundary === "enforced") for (const slot of slots) await sweepSlot(slot, boundary)
  for (const name of await readdir(root)) {
    const path = join(root, name)
    const { gid } = await lstat(path)
    const slot = slots.find((candidate) => candidate.gid === gid)
    await removeJobDirectory({ path, scratch: join(path, "scratch") }, slot ?? nobodysSlot(slots), slot ? boundary : "demo")
  }
}

/** For a directory that no slot's group owns: there is nothing in it that only a slot's user could delete. */
function nobodysSlot(slots: readonly Slot[]): Slot {
  const [first] = slots
  if (!first) throw new GalleyError("boundary_unavailable", "a runner needs at least one slot")
  return first
}
