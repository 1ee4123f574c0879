import { randomUUID } from "node:crypto"
import type { Store } from "@galley/store/database"
import { claimJobs } from "@galley/store/queue/claim-jobs"
import { expect, test } from "vitest"
import { bothKinds, claim, claimed, freshStore, push, readJob, seedTenant, type Tenant } from "./store-fixture.ts"

const RUNNERS = { maxRunningJobs: 1000, sharedRunner: true }

/** Tenants in the order of their ids, which is that of their turns, each with so many waiting jobs. */
async function tenants(store: Store, jobs: number): Promise<[Tenant, Tenant, Tenant]> {
  const all = [await seedTenant(store, RUNNERS), await seedTenant(store, RUNNERS), await seedTenant(store, RUNNERS)]
  all.sort((one, other) => (one.workspaceId < other.workspaceId ? -1 : 1))
  const [a, b, c] = all
  if (!a || !b || !c) throw new Error("three were made")
  for (const tenant of all) for (let number = 1; number <= jobs; number++) await push(store, tenant, number)
  return [a, b, c]
}

// R-QUEUE-4
test("gives shared runners' turns on whatever the runners of one workspace take", async () => {
  const store = await freshStore()
  const [a, b, c] = await tenants(store, 8)
  const served: string[] = []

  for (let turn = 0; turn < 6; turn++) {
    await claimed(store, a)
    served.push((await claimed(store, b, { anyWorkspace: true })).workspaceId)
  }

  for (const tenant of [a, b, c]) expect(served.filter((id) => id === tenant.workspaceId)).toHaveLength(2)
})

test("gives each set of kinds turns of its own", async () => {
  const store = await freshStore()
  const [a, b, c] = await tenants(store, 8)
  await store.sql`update review_jobs set review_kind = 'dynamic' where workspace_id = ${a.workspaceId}`
  const served: string[] = []

  for (let turn = 0; turn < 6; turn++) {
    expect((await claimed(store, a, { anyWorkspace: true, kinds: ["dynamic"] })).workspaceId).toBe(a.workspaceId)
    served.push((await claimed(store, b, { anyWorkspace: true, kinds: ["diff"] })).workspaceId)
  }

  for (const tenant of [b, c]) expect(served.filter((id) => id === tenant.workspaceId)).toHaveLength(3)
})

test("leases no job twice to runners that name a kind twice", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store, RUNNERS)
  await push(store, tenant, 1)
  await push(store, tenant, 2)
  const requests = Array.from({ length: 3 }, () => ({
    requestId: randomUUID(),
    runnerId: tenant.runnerId,
    workspaceId: null,
    kinds: ["diff", "diff"] as const,
  }))

  const leases = await claimJobs(store, requests)

  expect(leases.map(({ pullRequest }) => pullRequest.number).toSorted()).toEqual([1, 2])
})

test("answers a request whose id comes in capital letters, and takes it for the same in small ones", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store, RUNNERS)
  await push(store, tenant, 1)
  await push(store, tenant, 2)
  const requestId = randomUUID()
  const ask = (id: string) => ({ requestId: id, runnerId: tenant.runnerId, workspaceId: null, kinds: bothKinds })

  const leases = await claimJobs(store, [ask(requestId.toUpperCase()), ask(requestId)])

  expect(leases).toHaveLength(1)
  expect(leases[0]).toMatchObject({ requestId })
  expect(leases[0]?.leaseToken).not.toBe("")
})

test("passes over a runner that is being changed, so that others need not wait and its removal sees every lease", async () => {
  const store = await freshStore()
  const changed = await seedTenant(store)
  const other = await seedTenant(store)
  const { jobId } = await push(store, changed, 1)
  await push(store, other, 1)

  await store.sql.begin(async (sql) => {
    await sql`update runners set token_hash = ${Buffer.from(randomUUID())} where id = ${changed.runnerId}`
    expect(await claim(store, changed)).toBeNull()
    expect(await claim(store, other)).not.toBeNull()
  })

  expect(await readJob(store, jobId)).toMatchObject({ state: "waiting" })
  expect(await claim(store, changed)).not.toBeNull()
})

// R-QUEUE-4
test("gives each workspace its part of what many runners ask for at once, up to its cap and its jobs, wherever the last claim ended", async () => {
  const store = await freshStore()
  const [a, b, c] = await tenants(store, 8)
  await store.sql`update workspaces set max_running_jobs = 2 where id = ${b.workspaceId}`
  await store.sql`update review_jobs set state = 'skipped', finished_at = now() where id in (
    select id from review_jobs where workspace_id = ${c.workspaceId} limit 7)`
  // The next turn is the second one's.
  await claimed(store, a, { anyWorkspace: true })
  const requests = Array.from({ length: 20 }, () => ({
    requestId: randomUUID(),
    runnerId: a.runnerId,
    workspaceId: null,
    kinds: bothKinds,
  }))

  const served = (await claimJobs(store, requests)).map(({ workspaceId }) => workspaceId)

  expect(served.slice(0, 3)).toEqual([b, c, a].map(({ workspaceId }) => workspaceId))
  const count = (tenant: Tenant) => served.filter((id) => id === tenant.workspaceId).length
  expect([a, b, c].map(count)).toEqual([7, 2, 1])
})

test("serves runners that name the same kinds in another order with the same turns", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store, { maxRunningJobs: 2 })
  for (const number of [1, 2]) await push(store, tenant, number)
  const ask = (kinds: ("diff" | "dynamic")[]) => ({ requestId: randomUUID(), runnerId: tenant.runnerId, workspaceId: null, kinds })

  expect(await claimJobs(store, [ask(["diff", "dynamic"]), ask(["dynamic", "diff"])])).toHaveLength(2)

  expect([...(await store.sql`select kinds from claim_turns`)]).toEqual([{ kinds: "diff,dynamic" }])
})
