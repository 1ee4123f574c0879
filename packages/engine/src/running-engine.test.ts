import { existsSync, readFileSync } from "node:fs"
import { makeSlots } from "@galley/sandbox/slot"
import { describe, expect, test } from "vitest"
import { orAborted, type RunningEngine, startEngine } from "./running-engine.ts"

const [slot] = makeSlots(1)
const GIB = 1024 ** 3
const never = new AbortController().signal

/** A shell program in the place of an engine, in the runner's own user. */
function engineRunning(program: string): RunningEngine {
  if (slot === undefined) throw new Error("makeSlots(1) gives one slot")
  return startEngine({ slot, boundary: "demo", argv: ["/bin/sh", "-c", program], env: { PATH: "/usr/bin:/bin" }, cwd: "/", stdin: "pipe" })
}

/** False for a process that is gone or only waits for its parent to take note. */
const alive = (pid: number) => existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"))

describe("startEngine", () => {
  test("finds the ready line wherever it is broken into pieces", async () => {
    const engine = engineRunning("printf 'noise\\nlistening o'; sleep 0.05; printf 'n 41\\n'; read line")
    const [, port] = await engine.waitForOutput(/^listening on (\d+)$/m, 10_000, never)
    await engine.stop()
    expect(port).toBe("41")
  })

  // R-ENG-9
  test("tells an engine that is not ready in time", async () => {
    const engine = engineRunning("echo almost; read line")
    await expect(engine.waitForOutput(/ready/, 50, never)).rejects.toMatchObject({ code: "engine_start_timeout" })
    await engine.stop()
  })

  test("tells an engine that ends before it is ready", async () => {
    await expect(engineRunning("exit 1").waitForOutput(/ready/, 10_000, never)).rejects.toMatchObject({ code: "engine_start_failed" })
  })

  // R-ENG-9
  test("stops waiting with the reason of the signal", async () => {
    const engine = engineRunning("read line")
    await expect(engine.waitForOutput(/ready/, 10_000, AbortSignal.abort("reason"))).rejects.toBe("reason")
    await engine.stop()
  })

  // R-ENG-9
  test("aborts its own signal with a code when the engine ends by itself", async () => {
    const engine = engineRunning("exit 5")
    await expect(engine.exited).resolves.toEqual({ code: 5, signal: null })
    await expect.poll(() => engine.ended.aborted).toBe(true)
    expect(engine.ended.reason).toMatchObject({ code: "engine_crashed", details: { exitCode: 5 } })
  })

  test("never makes an engine wait for its output to be read", async () => {
    const engine = engineRunning("head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2")
    await expect(engine.exited).resolves.toEqual({ code: 0, signal: null })
  })

  test("sees the end of an engine whose child keeps the output open", async () => {
    const engine = engineRunning("sleep 300 & exit 0")
    await expect(engine.exited).resolves.toEqual({ code: 0, signal: null })
    await engine.stop()
  })
})

describe("supervise", () => {
  // R-ENG-9
  test("leaves no process behind, also none that left the engine's group", async () => {
    const engine = engineRunning("setsid sleep 300 & echo pid $!; read line")
    const pid = await engine.supervise(GIB, never, async (signal) => Number((await engine.waitForOutput(/pid (\d+)/, 10_000, signal))[1]))
    expect(pid).toBeGreaterThan(1)
    await expect.poll(() => alive(pid)).toBe(false)
    await expect(engine.exited).resolves.toMatchObject({ signal: "SIGKILL" })
  })

  // R-ENG-9
  test("aborts when the engine uses more memory than its limit", async () => {
    const engine = engineRunning("read line")
    const run = engine.supervise(1, never, (signal) => orAborted(new Promise<never>(() => undefined), signal))
    await expect(run).rejects.toMatchObject({ code: "engine_memory_exceeded" })
  })
})
