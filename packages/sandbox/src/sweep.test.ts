import { once } from "node:events"
import { expect, test } from "vitest"
import { launch } from "./launch.ts"
import { watchMemory } from "./memory-watch.ts"
import { processesBelow, readProcesses } from "./processes.ts"
import { makeSlots } from "./slot.ts"
import { sweepSlot } from "./sweep.ts"

const [slot] = makeSlots(1) as [ReturnType<typeof makeSlots>[number]]

// R-BOUND-6
test("a demo sweep ends the engine and children that left its group, and nothing else", async () => {
  const bystander = await started("sleep 300")
  const engine = await started("setsid sleep 300 & sleep 300 & wait", 3)
  await sweepSlot(slot, "demo", [engine])
  expect(processesBelow(readProcesses(), engine)).toEqual([])
  expect(processesBelow(readProcesses(), bystander)).toHaveLength(2)
  await sweepSlot(slot, "demo", [bystander])
})

test("a demo sweep without a leader ends nothing", async () => {
  await expect(sweepSlot(slot, "demo", [])).resolves.toBeUndefined()
})

test("an enforced sweep refuses the runner's own user", async () => {
  const own = { ...slot, uid: process.getuid?.() ?? 0 }
  await expect(sweepSlot(own, "enforced")).rejects.toMatchObject({ code: "boundary_unavailable" })
})

test("the memory watch reports the peak when it is ended", async () => {
  const engine = await started("sleep 300")
  const stop = new AbortController()
  const peak = watchMemory({ slot, boundary: "demo", leader: engine, maxBytes: 1e9, signal: stop.signal, intervalMs: 5 })
  stop.abort()
  expect(await peak).toBeGreaterThan(100_000)
  await sweepSlot(slot, "demo", [engine])
})

// R-BOUND-7
test("the memory watch ends with an error as soon as all processes together are over the bound", async () => {
  const engine = await started("sleep 300 & sleep 300 & wait", 3)
  const watch = watchMemory({
    slot,
    boundary: "demo",
    leader: engine,
    maxBytes: 200_000,
    signal: new AbortController().signal,
    intervalMs: 5,
  })
  await expect(watch).rejects.toMatchObject({ code: "engine_memory_exceeded" })
  await sweepSlot(slot, "demo", [engine])
})

/** Launches a script and waits until it has its `count` processes, itself included. */
async function started(script: string, count = 2): Promise<number> {
  const child = launch({
    slot,
    boundary: "demo",
    argv: ["/bin/bash", "-c", `${script}; true`],
    env: { PATH: "/usr/bin:/bin" },
    cwd: "/",
    stdin: "ignore",
  })
  await once(child, "spawn")
  const leader = child.pid ?? 0
  await expect.poll(() => processesBelow(readProcesses(), leader).length).toBe(count)
  return leader
}
