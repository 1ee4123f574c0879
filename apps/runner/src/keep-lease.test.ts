import { once } from "node:events"
import { GalleyError } from "@galley/contract/errors"
import type { HeartbeatAnswer } from "@galley/contract/protocol"
import { expect, test } from "vitest"
import { keepLease, LeaseEnded } from "./keep-lease.ts"

const lease = { leaseMs: 400, heartbeatMs: 20 }
/** Long enough that a busy machine does not eat up the reserve. */
const long = { leaseMs: 4_000, heartbeatMs: 1_000 }
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

// F18, R-PROTO-1
test("gives up before the server does when no heartbeat gets through", async () => {
  const startedAt = performance.now()
  const kept = keepLease(long, async () => {
    throw new GalleyError("server_unreachable", "no line")
  })
  expect(await endOf(kept.signal)).toBe("lease_lost")
  expect(performance.now() - startedAt).toBeLessThan(long.leaseMs)
  await kept.stop()
})

// F18, R-PROTO-1
test("gives up in time when a heartbeat hangs", async () => {
  const startedAt = performance.now()
  const kept = keepLease(long, (signal) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))))
  expect(await endOf(kept.signal)).toBe("lease_lost")
  expect(performance.now() - startedAt).toBeLessThan(long.leaseMs)
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

// F17
test("keeps a lease when the line is broken for nine tenths of it", async () => {
  const renewedAt = performance.now()
  const back = Promise.withResolvers<void>()
  let beats = 0
  const kept = keepLease(long, async () => {
    if (beats++ === 0) return goOn
    if (performance.now() - renewedAt < 0.9 * long.leaseMs) throw new GalleyError("server_unreachable", "no line")
    back.resolve()
    return goOn
  })
  await Promise.race([back.promise, once(kept.signal, "abort")])
  expect(kept.signal.aborted).toBe(false)
  await kept.stop()
})

test("sends the first heartbeat at once", async () => {
  const first = Promise.withResolvers<void>()
  const kept = keepLease({ leaseMs: 60_000, heartbeatMs: 30_000 }, async () => {
    first.resolve()
    return goOn
  })
  await first.promise
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
