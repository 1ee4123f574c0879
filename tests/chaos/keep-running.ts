import { setTimeout as delay } from "node:timers/promises"
import type { ServerProcess } from "../system/intake-rig.ts"
import type { Blow } from "./story.ts"

/** A process that is started again after each blow, as by a service manager. */
export type KeptProcess = Readonly<{
  /** Null while it is down. */
  current(): ServerProcess | null
  /** Resolves when it is up. */
  up(): Promise<void>
  /** One blow at a time: the next one waits for the process to be up again. `beforeItGoesOn`: while it is stopped. */
  strike(blow: Pick<Blow, "signal" | "ms">, beforeItGoesOn: () => Promise<void>): Promise<void>
  /** How it ended without a blow: exit statuses or signals. */
  ownEnds(): readonly (number | string)[]
  /** What all of its lives wrote to their log. */
  lines(): readonly string[]
  /** For good. */
  end(): Promise<void>
}>

const STARTS = 10

/** @param start rejects when the process ends before it is ready */
export function keepRunning(start: () => Promise<ServerProcess>): KeptProcess {
  const lives: ServerProcess[] = []
  const ownEnds: (number | string)[] = []
  let current: ServerProcess | null = null
  let over = false

  const startOnce = async () => {
    const life = await start()
    lives.push(life)
    current = life
    life.ended.then((how) => {
      if (life === current) ownEnds.push(how)
    })
    if (over) await kill()
  }
  const kill = async (signal: NodeJS.Signals = "SIGKILL") => {
    const life = current
    current = null
    await life?.kill(signal)
  }
  const startAgain = async () => {
    for (let turn = 1; !over; turn++) {
      try {
        return await startOnce()
      } catch (error) {
        // GitHub may be in the way of a start.
        if (turn === STARTS) throw error
      }
    }
  }
  const suffer = async ({ signal, ms }: Pick<Blow, "signal" | "ms">, beforeItGoesOn: () => Promise<void>) => {
    if (signal !== "SIGSTOP") {
      await kill(signal)
      await delay(ms)
      return startAgain()
    }
    const pid = current?.pid
    if (pid === undefined || over) return
    process.kill(pid, "SIGSTOP")
    await delay(ms)
    await beforeItGoesOn().finally(() => process.kill(pid, "SIGCONT"))
  }
  let settled = startAgain()
  settled.catch(() => undefined)

  return {
    current: () => current,
    up: () => settled,
    strike(blow, beforeItGoesOn) {
      settled = settled.then(() => suffer(blow, beforeItGoesOn))
      settled.catch(() => undefined)
      return settled
    },
    ownEnds: () => ownEnds,
    lines: () => lives.flatMap(({ lines }) => lines),
    async end() {
      over = true
      await kill()
    },
  }
}
