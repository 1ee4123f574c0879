import { once } from "node:events"
import { GalleyError } from "@galley/contract/errors"
import type { HeartbeatAnswer } from "@galley/contract/protocol"
import { expect, test } from "vitest"
import { keepLease, LeaseEnded } from "./keep-lease.ts"

const lease = { leaseMs: 400, heartbeatMs: 20 }
const goOn: HeartbeatAnswer = { action: "continue" }

async function endOf(signal: AbortSignal): Promise<string> {
  if (!signal.aborted) await once(signal, "abort")
  return signal.reason instanceof LeaseEnded ? signal.reason.end : String(signal.reason)
}

test("ends the work when the server says cancel", async () => {
  const kept = keepLease(lease, async () => ({ action: "cancel" }))
  expect(await endOf(kept.signal)).toBe("cancel")
  await kept.stop()
})

test("ends the work when the server calls the lease lost", async () => {
  const kept = keepLease(lease, async () => {
    throw new GalleyError("lease_lost", "another runner has it")
  })
  expect(await endOf(kept.signal)).toBe("lease_lost")
  await kept.stop()
})

test("gives up before the server does when no heartbeat gets through", async () => {
  const startedAt = performance.now()
  const kept = keepLease(lease, async () => {
    throw new GalleyError("server_unreachable", "no line")
  })
  expect(await endOf(kept.signal)).toBe("lease_lost")
  expect(performance.now() - startedAt).toBeLessThan(lease.leaseMs)
  await kept.stop()
})

test("gives up in time when a heartbeat hangs", async () => {
  const kept = keepLease(lease, (signal) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))))
  expect(await endOf(kept.signal)).toBe("lease_lost")
  await kept.stop()
})

test("keeps a lease through a short break of the line", async () => {
  let beats = 0
  const reached = Promise.withResolvers<void>()
  const kept = keepLease(lease, async () => {
    beats++
    if (beats <= 2) throw new GalleyError("server_unreachable", "no line")
    if (beats === 30) reached.resolve()
    return goOn
  })
  await reached.promise
  expect(kept.signal.aborted).toBe(false)
  await kept.stop()
})

test("sends no heartbeat after it was stopped", async () => {
  let beats = 0
  const first = Promise.withResolvers<void>()
  const kept = keepLease(lease, async () => {
    beats++
    first.resolve()
    return goOn
  })
  await first.promise
  await kept.stop()
  const before = beats
  await new Promise((resolve) => setImmediate(resolve))
  expect(beats).toBe(before)
  expect(kept.signal.aborted).toBe(false)
})
