import { accessSync, constants } from "node:fs"
import { delimiter, join } from "node:path"

/** First executable of that name on PATH, or null. It may still be a shim that does not run. */
export function findOnPath(name: string, path: string = process.env.PATH ?? ""): string | null {
  return (
    path
      .split(delimiter)
      .filter(Boolean)
      .map((folder) => join(folder, name))
      .find(isExecutable) ?? null
  )
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
