import { setTimeout as delay } from "node:timers/promises"
import type { ServerProcess } from "../system/intake-rig.ts"
import type { Blow } from "./story.ts"

/** A process that is started again whenever it ended, as by a service manager. */
export type KeptProcess = Readonly<{
  /** Null while it is down. */
  current(): ServerProcess | null
  /** Resolves when it is up. */
  up(): Promise<void>
  /** One blow at a time: the next one waits for the process to be up again. */
  strike(blow: Pick<Blow, "signal" | "ms">, beforeItGoesOn: () => Promise<void>): Promise<void>
  /** What all of its lives wrote to their log. */
  lines(): readonly string[]
}>

const STARTS = 10

/**
 * @param start rejects when the process ends before it is ready
 * @param ending ends the process and starts it no more
 */
export function keepRunning(start: () => Promise<ServerProcess>, ending: AbortSignal): KeptProcess {
  let current: ServerProcess | null = null
  const lives: ServerProcess[] = []

  const startAgain = async () => {
    for (let turn = 1; !ending.aborted; turn++) {
      try {
        current = await start()
        lives.push(current)
        if (ending.aborted) await current.kill("SIGKILL")
        return
      } catch (error) {
        // GitHub may be in the way of a start.
        if (turn === STARTS) throw error
      }
    }
  }
  let settled = startAgain()
  settled.catch(() => undefined)
  ending.addEventListener("abort", () => void current?.kill("SIGKILL"))

  const suffer = async ({ signal, ms }: Pick<Blow, "signal" | "ms">, beforeItGoesOn: () => Promise<void>) => {
    const victim = current
    if (victim === null) return
    if (signal === "SIGSTOP") {
      process.kill(victim.pid, "SIGSTOP")
      await delay(ms)
      await beforeItGoesOn().finally(() => process.kill(victim.pid, "SIGCONT"))
      return
    }
    current = null
    await victim.kill(signal)
    await delay(ms)
    await startAgain()
  }
  return {
    current: () => current,
    up: () => settled,
    strike(blow, beforeItGoesOn) {
      settled = settled.then(() => suffer(blow, beforeItGoesOn))
      settled.catch(() => undefined)
      return settled
    },
    lines: () => lives.flatMap(({ lines }) => lines),
  }
}
