import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createWriteStream } from "node:fs"
import { createInterface } from "node:readline"

/** A child process whose output goes to a log file. */
export type StartedProcess = Readonly<{
  name: string
  pid: number
  /** Lines of its output so far. */
  output(): readonly string[]
  /** Rejects when the process ends before; resolves with the first line of its output that `matches`. */
  waitForLine(matches: (line: string) => boolean): Promise<string>
  /** Its exit code; null when a signal ended it. */
  ended: Promise<number | null>
  /** SIGTERM, then SIGKILL after `graceMs`. Safe to call twice. */
  stop(graceMs?: number): Promise<void>
}>

export type ProcessRequest = Readonly<{
  name: string
  argv: readonly [string, ...string[]]
  env: Readonly<Record<string, string>>
  logFile: string
}>

const STOP_GRACE_MS = 45_000

/** Starts a process with exactly the given environment. */
export function startProcess({ name, argv, env, logFile }: ProcessRequest): StartedProcess {
  const [command, ...args] = argv
  const child = spawn(command, args, { env, stdio: ["ignore", "pipe", "pipe"] })
  const log = createWriteStream(logFile, { flags: "a" })
  const seen: string[] = []
  const watchers = new Set<(line: string) => void>()
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on("line", (line) => {
      log.write(`${line}\n`)
      seen.push(line)
      for (const watcher of watchers) watcher(line)
    })
  }
  const ended = once(child, "close").then(([code]) => {
    log.end()
    return code as number | null
  })
  ended.catch(() => undefined)
  return {
    name,
    pid: child.pid ?? 0,
    output: () => seen,
    ended,
    waitForLine: (matches) => waitForLine(name, child, seen, watchers, matches),
    async stop(graceMs = STOP_GRACE_MS) {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill("SIGTERM")
        const timer = setTimeout(() => child.kill("SIGKILL"), graceMs)
        await ended.finally(() => clearTimeout(timer))
      }
      await ended
    },
  }
}

function waitForLine(
  name: string,
  child: ChildProcess,
  seen: readonly string[],
  watchers: Set<(line: string) => void>,
  matches: (line: string) => boolean,
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const look = (line: string) => {
    if (matches(line)) resolve(line)
  }
  const gone = () => reject(new Error(`${name} ended early:\n${seen.slice(-15).join("\n")}`))
  for (const line of seen) look(line)
  watchers.add(look)
  child.once("close", gone)
  child.once("error", reject)
  if (child.exitCode !== null) gone()
  return promise.finally(() => {
    watchers.delete(look)
    child.off("close", gone)
  })
}
