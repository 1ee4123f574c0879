import { spawn } from "node:child_process"
import { once } from "node:events"
import { text } from "node:stream/consumers"
import { GalleyError } from "@galley/contract/errors"

export type ProgramResult = Readonly<{ code: number | null; stdout: string; stderr: string }>

const environment = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C" }

/** Runs a system program with an explicit environment and returns how it ended. Throws `boundary_unavailable` when it cannot start. */
export async function runProgram(
  command: string,
  args: readonly string[],
  options: { input?: string; signal?: AbortSignal } = {},
): Promise<ProgramResult> {
  const child = spawn(command, args, { env: environment, cwd: "/", stdio: "pipe", ...(options.signal && { signal: options.signal }) })
  child.stdin.on("error", () => undefined) // a program that ends early does not read its input; its exit code tells
  child.stdin.end(options.input ?? "")
  try {
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")])
    return { code: code as number | null, stdout, stderr }
  } catch (cause) {
    throw new GalleyError("boundary_unavailable", `${command} could not be run`, { cause })
  }
}

/** As `runProgram`, but anything else than exit 0 is a `boundary_unavailable` that quotes the program. */
export async function requireProgram(
  command: string,
  args: readonly string[],
  options: { input?: string; signal?: AbortSignal } = {},
): Promise<string> {
  const { code, stdout, stderr } = await runProgram(command, args, options)
  if (code !== 0) throw new GalleyError("boundary_unavailable", `${command} failed: ${(stderr || stdout).trim().slice(0, 300)}`)
  return stdout
}
