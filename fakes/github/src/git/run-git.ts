import { execFile } from "node:child_process"
import { promisify } from "node:util"

const MAX_OUTPUT_BYTES = 512 * 1024 * 1024
const run = promisify(execFile)

/** Whole environment of every git child: nobody's configuration, and repositories of any owner may be read. */
export const gitEnvironment: Readonly<Record<string, string>> = {
  PATH: "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin",
  HOME: "/nonexistent",
  LC_ALL: "C",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_COUNT: "1",
  GIT_CONFIG_KEY_0: "safe.directory",
  GIT_CONFIG_VALUE_0: "*",
}

/** Runs git in `directory` and returns its output. Rejects with git's message on any exit code but 0. */
export async function runGit(directory: string, args: readonly string[]): Promise<Buffer> {
  const { stdout } = await run("git", ["-C", directory, ...args], {
    env: { ...gitEnvironment },
    encoding: "buffer",
    maxBuffer: MAX_OUTPUT_BYTES,
  })
  return stdout
}

/** As `runGit`, as text without white space at the ends. */
export async function readGit(directory: string, args: readonly string[]): Promise<string> {
  return (await runGit(directory, args)).toString().trim()
}

/** As `readGit`; null when git exits with 1, its way to answer "there is none" (`rev-parse --quiet`, `merge-base`). */
export async function findGit(directory: string, args: readonly string[]): Promise<string | null> {
  try {
    return await readGit(directory, args)
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === 1) return null
    throw error
  }
}
