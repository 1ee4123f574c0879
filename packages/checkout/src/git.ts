import { spawn } from "node:child_process"
import type { Readable } from "node:stream"
import { GalleyError } from "@galley/contract/errors"
import type { JobLimits } from "@galley/contract/limits"
import { gitOptions, launchWords, localEnvironment } from "./git-environment.ts"

/** Bytes of standard error that are kept: the newest ones, where git says why it gave up. */
const MAX_ERROR_BYTES = 8 * 1024
const MAX_OUTPUT_BYTES = 64 * 1024

/** How git children are started for one job. */
export type Git = Readonly<{ command: string; words: readonly string[] }>

export type GitCommand = Readonly<{
  /** The bare repository the command works in. */
  repository: string
  args: readonly string[]
  /** The whole environment; `localEnvironment` when left out. */
  environment?: Readonly<Record<string, string>>
  input?: string
  /** Bytes of standard output after which the child is ended and `cut` is set; 64 KiB when left out. */
  maxOutputBytes?: number
}>

export type GitResult = Readonly<{ code: number | null; stdout: Buffer; stderr: string; cut: boolean }>

type GitExit = Readonly<{ code: number | null; stderr: string }>
type GitChild = Readonly<{ stdout: Readable; exit: Promise<GitExit>; kill(): void }>

export function createGit(limits: JobLimits): Git {
  const [command = "git", ...words] = [...launchWords(limits), ...gitOptions(limits)]
  return { command, words }
}

/**
 * Runs a git command to its end. An exit status is an answer, not an error: the caller judges it.
 * Rejects with the signal's reason after killing the whole process group.
 */
export async function runGit(git: Git, command: GitCommand, signal: AbortSignal): Promise<GitResult> {
  const child = startGit(git, command, signal)
  const chunks: Buffer[] = []
  let room = command.maxOutputBytes ?? MAX_OUTPUT_BYTES
  try {
    for await (const chunk of chunksOf(child, signal)) {
      chunks.push(chunk.subarray(0, room))
      room -= chunk.length
      if (room < 0) break
    }
    if (room < 0) child.kill()
    const exit = await child.exit
    signal.throwIfAborted()
    return { ...exit, stdout: Buffer.concat(chunks), cut: room < 0 }
  } finally {
    child.kill()
    await child.exit
  }
}

/**
 * Standard output of a local git command as it comes. The child is ended when the consumer stops early.
 * Throws `checkout_objects_refused` when git itself gives up.
 */
export async function* streamGit(git: Git, command: GitCommand, signal: AbortSignal): AsyncGenerator<Buffer> {
  const child = startGit(git, command, signal)
  try {
    yield* chunksOf(child, signal)
    const exit = await child.exit
    if (exit.code !== 0) throw gitRefused(command, exit)
  } finally {
    child.kill()
    await child.exit
  }
}

/** The error for a local command that git ended by itself. `details` name the command and status, never its output. */
export function gitRefused(command: GitCommand, exit: Readonly<{ code: number | null; stderr: string }>): GalleyError {
  const name = command.args[0] ?? ""
  return new GalleyError("checkout_objects_refused", `git ${name} refused the repository's objects`, {
    cause: new Error(exit.stderr),
    details: { command: name, status: exit.code ?? -1 },
  })
}

/** A child in a process group of its own, so that the helpers git starts end with it. */
function startGit(git: Git, command: GitCommand, signal: AbortSignal): GitChild {
  signal.throwIfAborted()
  const child = spawn(git.command, [...git.words, `--git-dir=${command.repository}`, ...command.args], {
    cwd: "/",
    detached: true,
    env: { ...(command.environment ?? localEnvironment) },
    stdio: ["pipe", "pipe", "pipe"],
  })
  let closed = false
  const kill = (): void => {
    if (!closed && child.pid !== undefined) killGroup(child.pid)
    child.stdout.destroy()
  }
  signal.addEventListener("abort", kill, { once: true })
  let stderr = Buffer.alloc(0)
  child.stderr.on("data", (chunk: Buffer) => {
    stderr = Buffer.concat([stderr, chunk]).subarray(-MAX_ERROR_BYTES)
  })
  child.stdin.on("error", () => undefined) // A child that ends before it read everything says why through its status.
  child.stdin.end(command.input ?? "")
  const exit = new Promise<GitExit>((resolve, reject) => {
    child.once("error", (cause) => reject(new GalleyError("internal_error", "git could not be started", { cause })))
    child.once("close", (code) => resolve({ code, stderr: stderr.toString("latin1") }))
  }).finally(() => {
    closed = true
    signal.removeEventListener("abort", kill)
  })
  return { stdout: child.stdout, exit, kill }
}

/** Ends the group also when its leader is gone already: a helper that still runs holds the child's pipes open. */
function killGroup(leader: number): void {
  try {
    process.kill(-leader, "SIGKILL")
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error
  }
}

/** The child's output. A stream cut by an abort ends with the signal's reason. */
async function* chunksOf(child: GitChild, signal: AbortSignal): AsyncGenerator<Buffer> {
  try {
    yield* child.stdout as AsyncIterable<Buffer>
  } catch (error) {
    signal.throwIfAborted()
    throw error
  }
}
