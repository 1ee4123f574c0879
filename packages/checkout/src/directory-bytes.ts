import { lstatSync, readdirSync } from "node:fs"
import { join } from "node:path"

/** Sum of the sizes of all files below `directory`, in bytes. A file that vanishes while it is counted counts as nothing. */
export function directoryBytes(directory: string): number {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return files.reduce((sum, file) => sum + (lstatSync(join(file.parentPath, file.name), { throwIfNoEntry: false })?.size ?? 0), 0)
}
