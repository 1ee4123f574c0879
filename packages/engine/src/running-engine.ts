import { once } from "node:events"
import type { Writable } from "node:stream"
import { GalleyError } from "@galley/contract/errors"
import { type LaunchRequest, launch } from "@galley/sandbox/launch"
import { watchMemory } from "@galley/sandbox/memory-watch"
import { killGroup, sweepSlot } from "@galley/sandbox/sweep"
import { MAX_ENGINE_OUTPUT_BYTES } from "./engine-times.ts"

export type EngineExit = Readonly<{ code: number | null; signal: string | null }>

/** A launched engine process. */
export type RunningEngine = Readonly<{
  stdin: Writable | null
  /** Aborts when the process ends, with `engine_crashed` as the reason. */
  ended: AbortSignal
  exited: Promise<EngineExit>
  /**
   * Waits until the standard output holds `pattern`, within its first 64 KiB.
   * Throws `engine_start_timeout`, `engine_start_failed` when the process ends before, or the reason of `signal`.
   */
  waitForOutput(pattern: RegExp, timeoutMs: number, signal: AbortSignal): Promise<RegExpExecArray>
  /** Runs `use` while memory is watched; its signal aborts with `engine_memory_exceeded` too. Everything of the engine is gone afterwards. */
  supervise<T>(maxMemoryBytes: number, signal: AbortSignal, use: (signal: AbortSignal) => Promise<T>): Promise<T>
  /** Ends the process and everything it started. */
  stop(): Promise<void>
}>

/** Starts an engine. Its output is never logged or shown: it may quote the repository. */
export function startEngine(request: LaunchRequest): RunningEngine {
  const { slot, boundary } = request
  const child = launch(request)
  const leaders = child.pid === undefined ? [] : [child.pid]
  const ending = new AbortController()
  // not `close`: whoever inherited the output could hold that back
  const exited = once(child, "exit").then(
    ([code, signal]): EngineExit => ({ code, signal }),
    (): EngineExit => ({ code: 127, signal: null }),
  )
  const ended = exited.then(({ code, signal }) => {
    const details = { exitCode: code ?? -1, signal: signal ?? "none", outputBytes: output.bytes }
    ending.abort(new GalleyError("engine_crashed", "the engine ended by itself", { details }))
  })
  const output = { text: "", bytes: 0 }
  child.stdout.on("data", (chunk: Buffer) => {
    output.bytes += chunk.length
    if (output.text.length < MAX_ENGINE_OUTPUT_BYTES) output.text += chunk.toString("latin1")
  })
  child.stderr.on("data", (chunk: Buffer) => {
    output.bytes += chunk.length
  })
  // an engine that ends early does not read its input; its exit tells
  child.stdin?.on("error", () => undefined)

  const stop = async () => {
    // Right after its launch the leader still has the runner's user, and a sweep of the slot's user would miss it.
    if (boundary === "enforced" && !ending.signal.aborted) leaders.forEach(killGroup)
    await sweepSlot(slot, boundary, leaders)
    await ended
  }

  return {
    stdin: child.stdin,
    ended: ending.signal,
    exited,
    async waitForOutput(pattern, timeoutMs, signal) {
      const timeout = AbortSignal.timeout(timeoutMs)
      const waiting = AbortSignal.any([signal, timeout, ending.signal])
      for (;;) {
        const found = pattern.exec(output.text)
        if (found !== null) return found
        if (ending.signal.aborted)
          throw new GalleyError("engine_start_failed", "the engine ended before it was ready", { cause: ending.signal.reason })
        if (signal.aborted) throw signal.reason
        if (timeout.aborted) throw new GalleyError("engine_start_timeout", "the engine was not ready in time", { details: { timeoutMs } })
        await once(child.stdout, "data", { signal: waiting }).catch(() => undefined) // the loop tells why it woke
      }
    },
    async supervise(maxMemoryBytes, signal, use) {
      const over = new AbortController()
      const done = new AbortController()
      const watch = watchMemory({ slot, boundary, leader: leaders[0] ?? 0, maxBytes: maxMemoryBytes, signal: done.signal })
      const watched = watch.then(
        () => undefined,
        (error) => over.abort(error),
      )
      try {
        return await use(AbortSignal.any([signal, over.signal]))
      } finally {
        done.abort()
        await watched
        await stop()
      }
    },
    stop,
  }
}

/** The outcome of `promise`, or the reason of `signal` when that comes first. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener("abort", abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort))
  })
}
