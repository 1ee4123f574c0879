import { completeJob, openCompletion } from "@galley/store/queue/complete-job"
import { expect, test } from "vitest"
import { claimed, freshStore, push, readJob, reviewed, seedTenant } from "./store-fixture.ts"

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
