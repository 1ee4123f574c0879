import { execFile } from "node:child_process"
import { appendFile, mkdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"

const execute = promisify(execFile)

/** Makes a directory with a disk of its own, which can be filled. @returns takes the disk away again */
export async function mountDisk(directory: string, sizeMiB: number): Promise<() => Promise<void>> {
  if (process.getuid?.() !== 0) throw new Error("a disk that can be filled is mounted: run this test as root")
  await mkdir(directory)
  await execute("mount", ["-t", "tmpfs", "-o", `size=${sizeMiB}m`, "galley-test", directory])
  return async () => {
    await execute("umount", [directory])
  }
}

/** Takes the last byte of the disk. @returns gives all of it back */
export async function fillDisk(directory: string): Promise<() => Promise<void>> {
  const ballast = join(directory, "ballast")
  for (let bytes = 2 ** 20; bytes >= 1; bytes = Math.floor(bytes / 16)) {
    while (await hasTaken(ballast, Buffer.alloc(bytes)));
  }
  return () => rm(ballast)
}

async function hasTaken(file: string, bytes: Buffer): Promise<boolean> {
  try {
    await appendFile(file, bytes)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOSPC") return false
    throw error
  }
}
