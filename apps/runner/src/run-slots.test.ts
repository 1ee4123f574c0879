import { once } from "node:events"
import { GalleyError } from "@galley/contract/errors"
import type { Capability, Lease, LeaseRequest } from "@galley/contract/protocol"
import { makeSlots } from "@galley/sandbox/slot"
import { pino } from "pino"
import { expect, test } from "vitest"
import { runSlots, type SlotLoopOptions } from "./run-slots.ts"
import type { ServerClient } from "./server-client.ts"
import { exampleLease } from "./testing/example-lease.ts"

const capability: Capability = {
  kind: "diff",
  engineVersion: "pr-agent 0.48.0",
  boundary: "enforced",
  checkedAt: "2026-11-30T12:00:00.000Z",
  expiresAt: "2026-11-30T12:30:00.000Z",
}

type Turn = Lease | null | Error

/** Runs slots against a server that answers in turns and then stops the runner. */
async function run(turns: readonly Turn[], over: Partial<SlotLoopOptions> = {}) {
  const stopping = new AbortController()
  const requests: LeaseRequest[] = []
  const worked: number[] = []
  const lease = async (request: LeaseRequest, signal: AbortSignal): Promise<Lease | null> => {
    const turn = turns[requests.push(request) - 1]
    if (turn === undefined) {
      stopping.abort()
      signal.throwIfAborted()
    }
    if (turn instanceof Error) throw turn
    return turn ?? null
  }
  await runSlots({
    slots: makeSlots(1),
    runnerName: "r",
    runnerVersion: "1",
    server: { lease } as ServerClient,
    prove: async () => [capability],
    work: async (_lease, slot) => void worked.push(slot.index),
    once: false,
    stopping: stopping.signal,
    log: pino({ level: "silent" }),
    ...over,
  })
  return { requests, ids: requests.map(({ requestId }) => requestId), worked }
}

const broken = () => new GalleyError("server_unreachable", "no line")

// F11, F12, R-QUEUE-6, R-PROTO-9
test("asks again with the same request after a broken line, and with a new one after every answer", async () => {
  const { ids, worked } = await run([broken(), exampleLease(), null])
  expect(ids[1]).toBe(ids[0])
  expect(new Set(ids.slice(1)).size).toBe(3)
  expect(worked).toEqual([0])
})

test("works on one job per slot at a time and says what the slot is proved to do", async () => {
  const { requests } = await run([null])
  expect(requests[0]).toMatchObject({ capabilities: [capability], freeSlots: 1, runnerName: "r", runnerVersion: "1" })
})

test("waits longer after each broken line", async () => {
  const times: number[] = []
  const stopping = new AbortController()
  const lease = async () => {
    if (times.push(performance.now()) === 3) stopping.abort()
    throw broken()
  }
  await run([], { server: { lease } as unknown as ServerClient, stopping: stopping.signal })
  const [first = 0, second = 0, third = 0] = times
  expect(second - first).toBeGreaterThan(400)
  expect(third - second).toBeGreaterThan(1.5 * (second - first))
})

test("leases nothing for a slot that proves nothing", async () => {
  const stopping = new AbortController()
  const prove = async () => {
    setImmediate(() => stopping.abort())
    return []
  }
  expect(await run([exampleLease()], { prove, stopping: stopping.signal })).toMatchObject({ requests: [], worked: [] })
})

test("goes on when a proof cannot even be tried", async () => {
  let proofs = 0
  const prove = async () => {
    if (++proofs === 1) throw new GalleyError("boundary_unavailable", "no probe")
    return [capability]
  }
  expect(await run([exampleLease()], { prove })).toMatchObject({ worked: [0] })
})

test("a stop ends a waiting poll at once", async () => {
  const stopping = new AbortController()
  const lease = async (_request: LeaseRequest, signal: AbortSignal) => {
    setImmediate(() => stopping.abort())
    await once(signal, "abort")
    throw signal.reason
  }
  const startedAt = performance.now()
  await run([], { server: { lease } as unknown as ServerClient, stopping: stopping.signal })
  expect(performance.now() - startedAt).toBeLessThan(400)
})

test("a stop ends the pause after a broken line at once", async () => {
  const stopping = new AbortController()
  const lease = async () => {
    setImmediate(() => stopping.abort())
    throw broken()
  }
  const startedAt = performance.now()
  await run([], { server: { lease } as unknown as ServerClient, stopping: stopping.signal })
  expect(performance.now() - startedAt).toBeLessThan(400)
})

test("a stop waits for the jobs that are under way", async () => {
  const stopping = new AbortController()
  const finished: string[] = []
  const work = async () => {
    stopping.abort()
    await new Promise((resolve) => setImmediate(resolve))
    finished.push("job")
  }
  await run([exampleLease()], { work, stopping: stopping.signal })
  expect(finished).toEqual(["job"])
})

test("slots work side by side", async () => {
  const both = Promise.withResolvers<void>()
  const busy = new Set<number>()
  const work = async (_lease: Lease, slot: { index: number }) => {
    busy.add(slot.index)
    if (busy.size === 2) both.resolve()
    await both.promise
  }
  await run([exampleLease(), exampleLease()], { slots: makeSlots(2), work })
  expect(busy.size).toBe(2)
})

// R-FLEET-6
test("an ephemeral runner waits for its one job through empty answers and broken lines, works on it and asks for no more", async () => {
  const { requests, worked } = await run([null, broken(), exampleLease(), exampleLease()], { once: true })
  expect(worked).toEqual([0])
  expect(requests).toHaveLength(3)
})

const refused = (code: "runner_unauthorized" | "runner_too_old") => new GalleyError(code, "no")

test.each(["runner_unauthorized", "runner_too_old"] as const)("an ephemeral runner ends when it is refused with %s", async (code) => {
  await expect(run([null, refused(code), null], { once: true })).rejects.toMatchObject({ code })
})

test.each([
  ["proves nothing", async () => []],
  ["cannot be swept", async () => Promise.reject(new GalleyError("boundary_unavailable", "a process will not end"))],
])("an ephemeral runner that %s ends", async (_what, prove) => {
  await expect(run([exampleLease()], { once: true, prove })).rejects.toMatchObject({ code: "boundary_unavailable" })
})

test("another runner asks again when it is refused, for its token may be set right", async () => {
  const { worked } = await run([refused("runner_unauthorized"), exampleLease()])
  expect(worked).toEqual([0])
})
