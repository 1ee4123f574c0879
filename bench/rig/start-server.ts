import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { closeSync, openSync, readFileSync } from "node:fs"
import { connect } from "node:net"
import { setTimeout as delay } from "node:timers/promises"
import { freePort } from "../../scripts/free-port.ts"
import { cpuMsOf } from "../measure/cpu-time.ts"

const START_TIMEOUT_MS = 30_000
const STOP_TIMEOUT_MS = 12_000

/** A contender in a process of its own, listening on 127.0.0.1. */
export type Server = Readonly<{ port: number; cpuMs(): number; stop(): Promise<void> }>

/**
 * Starts a server whose output goes straight to a file: a reader in this process would take CPU time from the measurement.
 *
 * @param environment given the port; the child gets nothing else but PATH
 */
export async function startServer(
  argv: readonly string[],
  environment: (port: number) => Readonly<Record<string, string>>,
  logFile: string,
): Promise<Server> {
  const port = await freePort()
  const log = openSync(logFile, "a")
  const env = { PATH: process.env.PATH ?? "", ...environment(port) }
  const child = spawn(process.execPath, argv, { env, stdio: ["ignore", log, log] })
  closeSync(log)
  const deadline = performance.now() + START_TIMEOUT_MS
  while (!(await accepts(port))) {
    if (child.exitCode !== null || performance.now() > deadline) {
      child.kill("SIGKILL")
      throw new Error(`${argv.at(-1)} did not start:\n${readFileSync(logFile, "utf8").slice(-2_000)}`)
    }
    await delay(50)
  }
  return { port, cpuMs: () => cpuMsOf(child.pid ?? 0), stop: () => stop(child) }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, "exit")
  child.kill("SIGTERM")
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS)
  await ended
  clearTimeout(timer)
}

function accepts(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect(port, "127.0.0.1")
  socket.once("connect", () => resolve(true))
  socket.once("error", () => resolve(false))
  return promise.finally(() => socket.destroy())
}
