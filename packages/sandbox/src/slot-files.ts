import { existsSync } from "node:fs"
import { GalleyError } from "@galley/contract/errors"
import { runAsSlot } from "./run-as-slot.ts"
import type { Slot } from "./slot.ts"

/** Where every user of an ordinary Linux system may leave files. */
const worldWritable = ["/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run/lock"]

/**
 * Deletes what a slot's user left in the world-writable directories, as that user and without crossing into another file system.
 * Only for the `enforced` boundary. Throws `boundary_unavailable` when something is left.
 */
export async function removeSlotFiles(slot: Slot, signal?: AbortSignal): Promise<void> {
  const roots = worldWritable.filter((path) => existsSync(path))
  const program = `
uid=$1; shift
find "$@" -xdev -user "$uid" -type d ! -perm -700 -exec chmod u+rwx {} \\; 2>/dev/null
find "$@" -xdev -mindepth 1 -user "$uid" -delete 2>/dev/null
find "$@" -xdev -mindepth 1 -user "$uid" -print -quit 2>/dev/null`
  const argv = ["/bin/bash", "-c", program, "remove", String(slot.uid), ...roots] as const
  const { stdout } = await runAsSlot(slot, "enforced", argv, { ...(signal && { signal }) })
  if (stdout !== "") throw new GalleyError("boundary_unavailable", `slot ${slot.index} left files that could not be deleted`)
}
