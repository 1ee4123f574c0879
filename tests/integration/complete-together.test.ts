import { randomUUID } from "node:crypto"
import { claimJobs } from "@galley/store/queue/claim-jobs"
import { type CompleteJob, completeJob, openCompletion } from "@galley/store/queue/complete-job"
import { expireLeases } from "@galley/store/queue/expire-leases"
import { expect, test, vi } from "vitest"
import { skipped } from "./reviewed-result.ts"
import { bothKinds, claimed, freshStore, push, readJob, reviewed, seedTenant } from "./store-fixture.ts"

const LONG = { timeout: 10_000 }

test("answers each of the results that are handed over together for itself", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const jobs = []
  for (const number of [1, 2, 3]) jobs.push(await push(store, tenant, number))
  const leases = [await claimed(store, tenant), await claimed(store, tenant), await claimed(store, tenant)] as const
  const complete = openCompletion(store)
  await complete(leases[2], reviewed(leases[2]))

  const answers = await Promise.allSettled([
    complete(leases[0], reviewed(leases[0])),
    complete({ ...leases[1], leaseToken: "of somebody else" }, reviewed(leases[1])),
    complete(leases[2], reviewed(leases[2])),
  ])

  expect(answers).toMatchObject([
    { status: "fulfilled", value: true },
    { status: "rejected", reason: { code: "lease_lost" } },
    { status: "fulfilled", value: false },
  ])
  const states = await Promise.all(jobs.map(async ({ jobId }) => (await readJob(store, jobId)).state))
  expect(states).toEqual(["publishing", "running", "publishing"])
  expect(await store.boss.findJobs("publish-comment", {})).toHaveLength(2)
})

test("keeps the result of a lease whose id comes in capital letters", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  await push(store, tenant, 1)
  const lease = await claimed(store, tenant)

  expect(await completeJob(store, { ...lease, leaseId: lease.leaseId.toUpperCase() }, reviewed(lease))).toBe(true)
  expect(await store.sql`select from review_results`).toHaveLength(1)
})

test("keeps the first of two results of one lease, also when they come together with its id in other letters", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  await push(store, tenant, 1)
  const lease = await claimed(store, tenant)
  const complete = openCompletion(store)
  const inCapitals = { ...lease, leaseId: lease.leaseId.toUpperCase() }

  const answers = await Promise.allSettled([complete(lease, reviewed(lease)), complete(inCapitals, skipped(lease))])

  expect(answers).toMatchObject([
    { status: "fulfilled", value: true },
    { status: "rejected", reason: { code: "result_conflict" } },
  ])
})

test("takes a result whose lease is being renewed while it runs out", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  await push(store, tenant, 1)
  const lease = await claimed(store, tenant, { leaseMs: 1_000 })
  let answer: Promise<boolean> | undefined
  await store.sql.begin(async (renewal) => {
    await renewal`update review_jobs set lease_expires_at = clock_timestamp() + interval '1 minute' where run_id = ${lease.leaseId}`
    await vi.waitFor(async () => {
      expect(await store.sql`select from review_jobs where lease_expires_at < clock_timestamp()`).toHaveLength(1)
    }, LONG)
    answer = completeJob(store, lease, reviewed(lease))
    await vi.waitFor(async () => {
      expect(
        await store.sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      ).toHaveLength(1)
    }, LONG)
  })

  expect(await answer).toBe(true)
})

test("waits for no other call that brings the same results in another order", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store, { maxRunningJobs: 16 })
  for (let number = 1; number <= 16; number++) await push(store, tenant, number)
  const leases = await claimJobs(
    store,
    Array.from({ length: 16 }, () => ({ requestId: randomUUID(), runnerId: tenant.runnerId, workspaceId: null, kinds: bothKinds })),
  )
  const results = leases.map((lease) => ({ proof: lease, result: reviewed(lease) }))
  const [one, other] = [openCompletion(store), openCompletion(store)]
  const all = (complete: CompleteJob, order: typeof results) => Promise.all(order.map(({ proof, result }) => complete(proof, result)))
  const deadlocks = async () =>
    (
      await store.sql<[{ n: number }]>`
    select deadlocks::int as n from pg_stat_database where datname = current_database()`
    )[0].n

  for (let round = 1; round <= 12; round++) await Promise.all([all(one, results), all(other, results.toReversed())])

  await store.sql`select pg_stat_clear_snapshot()`
  expect(await deadlocks()).toBe(0)
})

// Its row would be locked out of order, and two batches take each other's rows.
test("answers lease_lost without waiting for a job that another lease has by now", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  await push(store, tenant, 1)
  const stale = await claimed(store, tenant)
  await store.sql`update review_jobs set lease_expires_at = now()`
  await expireLeases(store)
  await store.sql`update review_jobs set run_after = now()`
  await claimed(store, tenant)

  await store.sql.begin(async (holder) => {
    await holder`select from review_jobs for update`
    await expect(completeJob(store, stale, reviewed(stale))).rejects.toMatchObject({ code: "lease_lost" })
  })
})
