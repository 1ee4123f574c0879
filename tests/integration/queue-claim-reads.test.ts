// R-QUEUE-5

import { noUsage } from "@galley/contract/usage"
import type { Query, Store } from "@galley/store/database"
import { findLease } from "@galley/store/queue/claim-jobs"
import { heartbeat } from "@galley/store/queue/heartbeat"
import { expect, test } from "vitest"
import { claimIn, completeIn, countRows, fillQueue, fillWorkspaces } from "./queue-load.ts"
import { claimed, freshStore, seedTenant } from "./store-fixture.ts"

test("reads a handful of rows for a claim among five thousand waiting jobs, also the sixth time on one connection", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store, { maxRunningJobs: 1000 })
  await fillQueue(store, tenant, 5_000)

  // From the sixth call on Postgres may use a plan made without knowing the parameters.
  for (let claim = 1; claim <= 12; claim++) {
    const { rows, value: leases } = await countRows(store, (sql) => claimIn(sql, tenant, ["diff", "dynamic"]))
    expect(leases).toBe(1)
    expect(rows).toBeLessThan(100)
  }
})

test("reads a handful of rows for a kind that has no waiting job among five thousand of the other", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  await fillQueue(store, tenant, 5_000)

  for (let claim = 1; claim <= 7; claim++) {
    const { rows, value: leases } = await countRows(store, (sql) => claimIn(sql, tenant, ["dynamic"]))
    expect(leases).toBe(0)
    expect(rows).toBeLessThan(20)
  }
})

test.each([
  [500, 1],
  [8, 1_250],
])("reads a handful of rows for a claim among %i workspaces with %i waiting jobs each", async (workspaces, jobs) => {
  const store = await freshStore()
  const tenant = await seedTenant(store, { sharedRunner: true })
  await fillWorkspaces(store, tenant, workspaces, jobs)

  for (let claim = 1; claim <= 12; claim++) {
    const { rows, value: leases } = await countRows(store, (sql) => claimIn(sql, tenant, ["diff", "dynamic"]))
    expect(leases).toBe(1)
    expect(rows).toBeLessThan(60)
  }
})

test("reads a handful of rows for a claim and a completion while a thousand jobs are busy of which statistics know nothing", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store, { maxRunningJobs: 1000, sharedRunner: true })
  await fillQueue(store, tenant, 1_200)
  await store.sql`update review_jobs set state = 'publishing' where id in (select id from review_jobs limit 1000)`

  for (let turn = 1; turn <= 7; turn++) {
    const claim = await countRows(store, (sql) => claimIn(sql, tenant, ["diff", "dynamic"]))
    expect(claim.value).toBe(1)
    expect(claim.rows).toBeLessThan(60)
    const completion = await countRows(store, completeIn)
    expect(completion.value).toBe("publishing")
    expect(completion.rows).toBeLessThan(10)
  }
})

test("reads a handful of rows for a heartbeat and for what a lease may use while a thousand other jobs are running", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store, { maxRunningJobs: 1000, sharedRunner: true })
  await fillQueue(store, tenant, 1_002)
  const [first, second] = [await claimed(store, tenant), await claimed(store, tenant)]
  await store.sql`
    update review_jobs set state = 'running', lease_token_hash = '', lease_expires_at = now() + interval '1 minute' where state = 'waiting'`
  const inOneTransaction = (sql: Query) => ({ ...store, sql: sql as Store["sql"] })

  for (let beat = 1; beat <= 7; beat++) {
    const { rows } = await countRows(store, (sql) =>
      heartbeat(inOneTransaction(sql), first, { phase: "reviewing", progress: "", usage: noUsage }),
    )
    expect(rows).toBeLessThan(10)
  }
  const lookUp = await countRows(store, (sql) => findLease(sql, second))
  expect(lookUp.value).not.toBeNull()
  expect(lookUp.rows).toBeLessThan(10)
})
