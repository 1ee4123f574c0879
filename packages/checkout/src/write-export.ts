import { chmodSync, closeSync, constants, fchmodSync, mkdirSync, openSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { GalleyError } from "@galley/contract/errors"

const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
const FILE_MODE = 0o444
const DIRECTORY_MODE = 0o555
/** While the export is written, nobody but the owner sees it. */
const UNFINISHED_MODE = 0o700

export type ExportWriter = Readonly<{
  /** Writes one new file. Throws `checkout_path_unsafe` when the tree names a path twice. */
  write(path: string, content: Buffer): void
  /** Makes every directory readable and unwritable. */
  seal(): void
}>

/**
 * Writes an export below `root`, which must not exist yet. The calls are synchronous: a file costs tens of microseconds,
 * and the caller waits for git between chunks.
 */
export function createExportWriter(root: string): ExportWriter {
  mkdirSync(root, { mode: UNFINISHED_MODE })
  const directories = new Set([root])
  /** One level at a time: a recursive mkdir would leave the levels in between unsealed. */
  const makeDirectory = (directory: string): void => {
    if (directories.has(directory)) return
    makeDirectory(dirname(directory))
    mkdirSync(directory, { mode: UNFINISHED_MODE })
    directories.add(directory)
  }
  return {
    write(path, content) {
      const target = join(root, path)
      try {
        makeDirectory(dirname(target))
        const file = openSync(target, NEW_FILE, FILE_MODE)
        try {
          writeFileSync(file, content)
          fchmodSync(file, FILE_MODE) // whatever the umask is
        } finally {
          closeSync(file)
        }
      } catch (cause) {
        throw writeFailed(cause)
      }
    },
    seal() {
      for (const directory of [...directories].reverse()) chmodSync(directory, DIRECTORY_MODE)
    },
  }
}

function writeFailed(cause: unknown): unknown {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined
  if (code === "EEXIST" || code === "ENOTDIR" || code === "EISDIR") {
    return new GalleyError("checkout_path_unsafe", "the head tree names a path twice", { cause })
  }
  if (code === "ENOSPC" || code === "EDQUOT") return new GalleyError("checkout_quota_exceeded", "no space left for the export", { cause })
  return cause
}
