import { randomUUID } from "node:crypto"
import type { Store } from "@galley/store/database"
import { hashToken } from "@galley/store/queue/lease-token"
import { expect, test } from "vitest"
import { freshStore, push, seedTenant, type Tenant } from "./store-fixture.ts"

/** Thousands of waiting jobs in one workspace, all of one kind, with statistics as the planner would have them. */
async function fill(store: Store, tenant: Tenant, jobs: number): Promise<void> {
  await push(store, tenant, 1)
  await store.sql`
    insert into pull_requests
    select (jsonb_populate_record(q, jsonb_build_object('id', gen_random_uuid(), 'number', n))).*
    from pull_requests q, generate_series(2, ${jobs}::int) n`
  await store.sql`
    insert into review_jobs
    select (jsonb_populate_record(j, jsonb_build_object('id', gen_random_uuid(), 'pull_request_id', q.id))).*
    from review_jobs j, pull_requests q where q.number > 1`
  await store.sql`vacuum analyze review_jobs`
  await store.sql`vacuum analyze pull_requests`
}

/** Rows of the queue that one claim looks at, as Postgres counts them. */
async function rowsRead(store: Store, tenant: Tenant, kinds: string[]): Promise<{ rows: number; leases: number }> {
  const request = {
    requestId: randomUUID(),
    runId: randomUUID(),
    runnerId: tenant.runnerId,
    workspaceId: null,
    kinds,
    tokenHash: hashToken("t").toString("hex"),
  }
  return store.sql.begin(async (sql) => {
    const count = () => sql<[{ rows: number }]>`
      select (seq_tup_read + idx_tup_fetch)::int as rows from pg_stat_xact_user_tables where relname = 'review_jobs'`
    const [before] = await count()
    const leases = await sql`select from claim_review_jobs(${sql.json([request])}, 60000)`
    const [after] = await count()
    return { rows: after.rows - before.rows, leases: leases.length }
  })
}

test("reads a handful of rows for a claim among five thousand waiting jobs, also the sixth time on one connection", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store, { maxRunningJobs: 1000 })
  await fill(store, tenant, 5_000)

  // From the sixth call on Postgres may use a plan made without knowing the parameters.
  for (let claim = 1; claim <= 12; claim++) {
    const { rows, leases } = await rowsRead(store, tenant, ["diff", "dynamic"])
    expect(leases).toBe(1)
    expect(rows).toBeLessThan(100)
  }
})

test("reads a handful of rows for a kind that has no waiting job among five thousand of the other", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  await fill(store, tenant, 5_000)

  for (let claim = 1; claim <= 7; claim++) {
    const { rows, leases } = await rowsRead(store, tenant, ["dynamic"])
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
      select (jsonb_populate_record(t, ${changes})).* from ${table} t, generate_series(1, 500) n`)
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
    const { rows, leases } = await rowsRead(store, tenant, ["diff", "dynamic"])
    expect(leases).toBe(1)
    expect(rows).toBeLessThan(40)
  }
})
