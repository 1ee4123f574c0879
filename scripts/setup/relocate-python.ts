import { chmod, cp, readFile, rm, writeFile } from "node:fs/promises"
import { basename, join, relative } from "node:path"
import { defaultSlotBase } from "../../packages/sandbox/src/slot.ts"
import type { Python } from "./find-python.ts"
import type { Log } from "./install-step.ts"
import { runCommand } from "./run-command.ts"

const leftOut = /(^|\/)(test|idlelib|tkinter|__pycache__|config-[^/]*|[^/]*\.a)$/

/**
 * An interpreter that slot users can start. Root's own Python may stand in a private home; then it is copied to `<prefix>/python`.
 * Returns the path of the interpreter to use.
 */
export async function reachablePython(python: Python, prefix: string, log: Log): Promise<string> {
  if (process.getuid?.() !== 0 || (await startsAsSlotUser(python.executable)) === null) return python.executable
  const target = join(prefix, "python")
  log(`pr-agent: copying Python ${python.version} to ${target}, where slot users can reach it`)
  await rm(target, { recursive: true, force: true })
  await cp(python.prefix, target, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (source) => !leftOut.test(relative(python.prefix, source)) && relative(python.prefix, source) !== "share",
  })
  const executable = join(target, "bin", basename(python.executable))
  if (python.libraryDirectory) await rewriteRunPath(executable, python.libraryDirectory)
  const failure = await startsAsSlotUser(executable)
  if (failure !== null) throw new Error(`the copy of Python in ${target} does not start as a slot user: ${failure}`)
  // slot users cannot write byte code, so without this every start would compile the standard library again
  await runCommand(executable, ["-I", "-m", "compileall", "-q", "-j0", join(target, "lib")])
  return executable
}

/** Null when a slot user can start this interpreter, else why not. */
async function startsAsSlotUser(executable: string): Promise<string | null> {
  const { uid } = defaultSlotBase
  const drop = [`--reuid=${uid}`, `--regid=${uid}`, "--clear-groups", "--no-new-privs", "--"]
  try {
    await runCommand("setpriv", [...drop, executable, "-I", "-B", "-c", "import ctypes, ssl, venv"], {
      cwd: "/",
      env: { PATH: "/usr/bin:/bin" },
    })
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/**
 * Makes an ELF file look for its library beside itself. The path is a string of the file's string table and the new one is
 * shorter, so it is replaced in place; no tool is needed.
 */
export async function rewriteRunPath(file: string, libraryDirectory: string): Promise<void> {
  const bytes = await readFile(file)
  const old = Buffer.from(`\0${libraryDirectory}\0`)
  const at = bytes.indexOf(old)
  const replacement = "\0$ORIGIN/../lib"
  if (at < 0 || bytes.indexOf(old, at + 1) >= 0 || replacement.length >= old.length)
    throw new Error(`${file} does not name ${libraryDirectory} as its library path exactly once; install Python 3.12 for all users instead`)
  bytes.fill(0, at, at + old.length)
  bytes.write(replacement, at, "latin1")
  await chmod(file, 0o755)
  await writeFile(file, bytes)
}
