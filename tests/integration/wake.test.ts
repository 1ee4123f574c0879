import { noUsage } from "@galley/contract/usage"
import type { Store } from "@galley/store/database"
import { heartbeat } from "@galley/store/queue/heartbeat"
import { createNotifier, listenForJobs, listenForRuns } from "@galley/store/wake"
import { expect, onTestFinished, test, vi } from "vitest"
import { claimed, freshStore, push, seedTenant } from "./store-fixture.ts"

/** Counts wake-ups after the one that every (re)connection brings. */
async function countWakes(store: Store) {
  const wakes = { count: 0 }
  const listener = await listenForJobs(store.sql, store.jobs, () => wakes.count++)
  onTestFinished(() => listener.close())
  await vi.waitFor(() => expect(wakes.count).toBe(1))
  wakes.count = 0
  return wakes
}

// R-QUEUE-11
test("wakes a runner of another server when a job was committed", async () => {
  const [store, tenant] = await (async () => {
    const opened = await freshStore()
    return [opened, await seedTenant(opened)] as const
  })()
  const wakes = await countWakes(await freshStore(store.url))

  await push(store, tenant, 1)

  await vi.waitFor(() => expect(wakes.count).toBe(1))
})

test("wakes a runner of the same server before the database tells it", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const elsewhere = await freshStore()
  const wakes = { count: 0 }
  const listener = await listenForJobs(elsewhere.sql, store.jobs, () => wakes.count++)
  onTestFinished(() => listener.close())
  await vi.waitFor(() => expect(wakes.count).toBe(1))

  await push(store, tenant, 1)

  expect(wakes.count).toBe(2)
})

test("wakes at the end of the debounce, not before", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const wakes = await countWakes(await freshStore(store.url))
  const queuedAt = performance.now()

  await push(store, tenant, 1, { wanted: { debounceMs: 1_000 } })

  await vi.waitFor(() => expect(wakes.count).toBe(1), { timeout: 5_000 })
  expect(performance.now() - queuedAt).toBeGreaterThan(950)
  await claimed(store, tenant)
})

test("sends a burst of hints as few notifications", async () => {
  const store = await freshStore()
  const wakes = await countWakes(await freshStore(store.url))

  for (let hint = 0; hint < 500; hint++) store.jobs.notify("0")
  await store.jobs.idle()
  await store.sql`select pg_notify('galley_jobs', '0')`

  await vi.waitFor(() => expect(wakes.count).toBeGreaterThanOrEqual(2))
  expect(wakes.count).toBeLessThanOrEqual(4)
})

// R-QUEUE-11
test("listens again after its connection was killed, and looks for what it missed", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const wakes = await countWakes(await freshStore(store.url))

  await store.sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and query ilike 'listen "galley_jobs"%'`
  await vi.waitFor(() => expect(wakes.count).toBe(1), { timeout: 10_000 })
  await push(store, tenant, 1)

  await vi.waitFor(() => expect(wakes.count).toBe(2))
})

test("tells pages which run changed", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const changes: unknown[] = []
  const listener = await listenForRuns(store.sql, (change) => changes.push(change))
  onTestFinished(() => listener.close())
  await push(store, tenant, 1)
  const lease = await claimed(store, tenant)
  const change = { workspaceId: tenant.workspaceId, runId: lease.leaseId }
  await vi.waitFor(() => expect(changes).toContainEqual(change))
  changes.length = 0

  await heartbeat(store, lease, { phase: "reviewing", progress: "", usage: noUsage })

  await vi.waitFor(() => expect(changes).toEqual([change]))
})

test("reports a hint that could not be sent and goes on", async () => {
  const store = await freshStore()
  const faults: unknown[] = []
  const notifier = createNotifier(store.sql, "x".repeat(100), (error) => faults.push(error))

  notifier.notify("0")
  await notifier.idle()

  expect(faults).toHaveLength(1)
})
