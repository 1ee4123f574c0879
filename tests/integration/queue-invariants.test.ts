import { expect, test } from "vitest"
import { claimed, freshStore, push, seedTenant } from "./store-fixture.ts"

const UNIQUE_VIOLATION = "23505"
const CHECK_VIOLATION = "23514"
const FOREIGN_KEY_VIOLATION = "23503"

/** A database with one waiting job, and a way to copy it with changes. */
async function oneWaitingJob() {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const { jobId } = await push(store, tenant, 1)
  const copy = (changes: Record<string, unknown>) => store.sql`
    insert into review_jobs
    select (jsonb_populate_record(j, ${store.sql.json({ id: crypto.randomUUID(), ...changes } as never)})).* from review_jobs j
    where id = ${jobId}`
  return { store, tenant, jobId, copy }
}

// R-QUEUE-1
test("the database refuses a second waiting job of a pull request, of any kind", async () => {
  const { copy } = await oneWaitingJob()
  await expect(copy({})).rejects.toMatchObject({ code: UNIQUE_VIOLATION })
  await expect(copy({ review_kind: "dynamic" })).rejects.toMatchObject({ code: UNIQUE_VIOLATION })
})

// R-QUEUE-1
test("the database refuses a second busy job of a pull request, running or publishing", async () => {
  const { store, tenant, copy } = await oneWaitingJob()
  await claimed(store, tenant)
  const publishing = { state: "publishing", review_kind: "dynamic", lease_token_hash: null, lease_expires_at: null }
  await expect(copy({})).rejects.toMatchObject({ code: UNIQUE_VIOLATION })
  await expect(copy(publishing)).rejects.toMatchObject({ code: UNIQUE_VIOLATION })
})

// R-QUEUE-2
test("the database ties the running state to a lease token", async () => {
  const { store, tenant, jobId } = await oneWaitingJob()
  await expect(store.sql`update review_jobs set state = 'running' where id = ${jobId}`).rejects.toMatchObject({ code: CHECK_VIOLATION })
  await claimed(store, tenant)
  await expect(store.sql`update review_jobs set state = 'waiting' where id = ${jobId}`).rejects.toMatchObject({ code: CHECK_VIOLATION })
})

// R-QUEUE-2
test("the database knows only its states and kinds", async () => {
  const { store } = await oneWaitingJob()
  await expect(store.sql`update review_jobs set state = 'paused'`).rejects.toMatchObject({ code: CHECK_VIOLATION })
  await expect(store.sql`update review_jobs set review_kind = 'static'`).rejects.toMatchObject({ code: CHECK_VIOLATION })
})

test("the database ties a job to the workspace of its pull request", async () => {
  const { store, copy } = await oneWaitingJob()
  const stranger = await seedTenant(store)
  const ended = { state: "cancelled", finished_at: "2026-11-30T10:00:00Z" }
  await expect(copy({ ...ended, workspace_id: stranger.workspaceId })).rejects.toMatchObject({ code: FOREIGN_KEY_VIOLATION })
})
