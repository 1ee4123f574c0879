// R-QUEUE-5

import { expect, test } from "vitest"
import { claimIn, countRows, fillQueue } from "./queue-load.ts"
import { freshStore, push, seedTenant } from "./store-fixture.ts"

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

test("reads a handful of rows for a claim among five hundred workspaces with waiting jobs", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store, { sharedRunner: true })
  await push(store, tenant, 1)
  const copy = (table: string, changes: string) =>
    store.sql.unsafe(`
      insert into ${table}
      select copy.* from ${table} t, generate_series(1, 500) n, jsonb_populate_record(t, ${changes}) copy`)
  const id = (table: string) => `md5('${table}' || n)::uuid`
  await copy("workspaces", `jsonb_build_object('id', ${id("workspace")}, 'slug', 'w' || n)`)
  const owned = `'workspace_id', ${id("workspace")}`
  await copy("installations", `jsonb_build_object('id', ${id("installation")}, ${owned}, 'github_installation_id', n)`)
  const installed = `${owned}, 'installation_id', ${id("installation")}`
  await copy("projects", `jsonb_build_object('id', ${id("project")}, ${installed}, 'github_repository_id', n)`)
  const inProject = `${owned}, 'project_id', ${id("project")}`
  await copy("pull_requests", `jsonb_build_object('id', ${id("pull")}, ${inProject})`)
  await copy("review_jobs", `jsonb_build_object('id', ${id("job")}, ${inProject}, 'pull_request_id', ${id("pull")})`)

  for (let claim = 1; claim <= 12; claim++) {
    const { rows, value: leases } = await countRows(store, (sql) => claimIn(sql, tenant, ["diff", "dynamic"]))
    expect(leases).toBe(1)
    expect(rows).toBeLessThan(60)
  }
})
