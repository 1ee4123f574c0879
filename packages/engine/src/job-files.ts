import { constants } from "node:fs"
import { chmod, chown, mkdir, open, writeFile } from "node:fs/promises"
import { GalleyError } from "@galley/contract/errors"
import type { BoundaryMode, Slot } from "@galley/sandbox/slot"

/** Who a job's files are for: in the `demo` boundary engine and runner are one user. */
export type JobOwner = Readonly<{ slot: Slot; boundary: BoundaryMode }>

/** Makes a new directory of the runner with exactly these mode bits, in the slot's group. */
export async function makeSlotDirectory(path: string, mode: number, owner: JobOwner): Promise<void> {
  await mkdir(path)
  await giveToGroup(path, mode, owner)
}

/** Writes a new file of the runner with exactly these mode bits, in the slot's group; nobody can read it before. */
export async function writeJobFile(path: string, text: string, mode: number, owner: JobOwner): Promise<void> {
  await writeFile(path, text, { flag: "wx", mode: 0o600 })
  await giveToGroup(path, mode, owner)
}

async function giveToGroup(path: string, mode: number, { slot, boundary }: JobOwner): Promise<void> {
  if (boundary === "enforced") await chown(path, process.getuid?.() ?? -1, slot.gid)
  await chmod(path, mode)
}

/**
 * Reads what an engine wrote. The engine could have put a link, a pipe or too much there.
 * Throws `engine_output_invalid` for anything but a regular file of at most `maxBytes`.
 */
export async function readEngineFile(path: string, maxBytes: number): Promise<string> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const { size } = await file.stat()
      const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(size, maxBytes) + 1))
      if (bytesRead > maxBytes) throw new GalleyError("engine_output_invalid", "the engine wrote too much", { details: { maxBytes } })
      return buffer.toString("utf8", 0, bytesRead)
    } finally {
      await file.close()
    }
  } catch (cause) {
    throw cause instanceof GalleyError ? cause : new GalleyError("engine_output_invalid", "the engine's output cannot be read", { cause })
  }
}
