import { execFile } from "node:child_process"
import { lstat } from "node:fs/promises"
import { isAbsolute } from "node:path"
import { promisify } from "node:util"
import { GalleyError } from "@galley/contract/errors"
import { PROGRAM_PATH } from "./git-environment.ts"

const run = promisify(execFile)

/**
 * Deletes a job's directory with everything in it; none is fine. Call it after the job's processes have ended.
 *
 * Two programs do it, so that other jobs are not held up by a large tree; neither follows links. Making folders writable
 * may fail on a file of another user: what counts is that `rm` succeeds. Throws `internal_error` when it does not.
 *
 * @param jobDirectory absolute path
 */
export async function removeCheckout(jobDirectory: string): Promise<void> {
  if (!isAbsolute(jobDirectory)) throw new GalleyError("internal_error", "a job directory is an absolute path")
  const options = { env: { PATH: PROGRAM_PATH, LC_ALL: "C" }, cwd: "/" }
  const found = await lstat(jobDirectory).catch(absent)
  if (found === null) return
  let locked: unknown = null
  try {
    if (found.isDirectory()) await run("chmod", ["-R", "u+rwX", "--", jobDirectory], options)
  } catch (error) {
    locked = error
  }
  try {
    await run("rm", ["-rf", "--", jobDirectory], options)
  } catch (error) {
    throw new GalleyError("internal_error", "the job directory could not be removed", { cause: new AggregateError([error, locked]) })
  }
}

function absent(error: unknown): null {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return null
  throw error
}
