import { randomUUID } from "node:crypto"
import { sweep } from "@galley/server/sweep"
import { completeJob } from "@galley/store/queue/complete-job"
import { sweepDeliveries } from "@galley/store/retention/sweep-deliveries"
import { sweepJobs } from "@galley/store/retention/sweep-jobs"
import { recordRunModel } from "@galley/store/runs/record-run-model"
import { deadTaskQueue } from "@galley/store/tasks"
import { listUsageDays } from "@galley/store/usage/list-usage-days"
import { rollUpUsage } from "@galley/store/usage/roll-up-usage"
import { expect, test } from "vitest"
import { startTestServer } from "./server-fixture.ts"
import { claimed, freshStore, push, reviewed, seedTenant, sha, type Tenant } from "./store-fixture.ts"

type Store = Awaited<ReturnType<typeof freshStore>>
const never = new AbortController().signal

/** A review of a pull request that ended so many days ago. */
async function reviewedDaysAgo(store: Store, tenant: Tenant, number: number, days: number): Promise<string> {
  await push(store, tenant, number, { snapshot: { headSha: sha(days.toString(16).padStart(2, "0")) } })
  const lease = await claimed(store, tenant)
  await completeJob(store, lease, reviewed(lease))
  await store.sql`
    update review_jobs set state = 'succeeded', created_at = now() - ${days} * interval '1 day',
      finished_at = now() - ${days} * interval '1 day'
    where id = ${lease.jobId}`
  await store.sql`update review_runs set started_at = now() - ${days} * interval '1 day' where id = ${lease.leaseId}`
  return lease.jobId
}

const count = async (store: Pick<Store, "sql">, table: string) =>
  (await store.sql<[{ n: number }]>`select count(*)::int as n from ${store.sql(table)}`)[0].n

test("removes old jobs with runs and results, but never the newest of a pull request nor one that has not ended", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  await reviewedDaysAgo(store, tenant, 1, 200)
  const newest = await reviewedDaysAgo(store, tenant, 1, 100)
  const recent = await reviewedDaysAgo(store, tenant, 2, 10)
  await push(store, tenant, 3)
  await store.sql`update review_jobs set created_at = now() - interval '300 days' where state = 'waiting'`

  expect(await sweepJobs(store, 90, never)).toBe(1)

  const jobs = await store.sql<{ id: string; state: string }[]>`select id, state from review_jobs order by created_at`
  expect(jobs).toMatchObject([{ state: "waiting" }, { id: newest }, { id: recent }])
  expect([await count(store, "review_runs"), await count(store, "review_results")]).toEqual([2, 2])
})

test("finds the few old jobs to remove behind more than a batch of those that stay, also when all ended at once", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  await reviewedDaysAgo(store, tenant, 1, 200)
  await reviewedDaysAgo(store, tenant, 1, 100)
  await store.sql`
    insert into pull_requests (
      id, workspace_id, project_id, number, title, description, author, base_ref, base_sha, head_ref, head_sha, web_url, draft, open, updated_at)
    select gen_random_uuid(), workspace_id, project_id, n, title, description, author, base_ref, base_sha, head_ref, head_sha, web_url, draft,
      open, updated_at
    from pull_requests, generate_series(2, 2501) n`
  await store.sql`
    insert into review_jobs (
      id, workspace_id, project_id, pull_request_id, state, cause, review_kind, head_sha, base_sha, head_updated_at, run_after, finished_at)
    -- Before the others in the order of ids.
    select ('00000000-0000-4000-8000-' || lpad(number::text, 12, '0'))::uuid, workspace_id, project_id, id, 'succeeded', 'event', 'diff', head_sha, base_sha, updated_at, now(), now()
    from pull_requests where number > 1`
  await store.sql`update review_jobs set finished_at = now() - interval '150 days'`

  expect(await sweepJobs(store, 90, never)).toBe(1)
  expect(await count(store, "review_jobs")).toBe(2501)
})

test("removes deliveries batch by batch and stops between batches when told to", async () => {
  const store = await freshStore()
  const { hostId } = await seedTenant(store)
  await store.sql`
    insert into webhook_deliveries (host_id, delivery_id, event, received_at)
    select ${hostId}, gen_random_uuid()::text, 'ping', now() - n * interval '1 minute' from generate_series(0, 2499) n`
  await store.sql`update webhook_deliveries set received_at = received_at - interval '30 days' where received_at < now() - interval '1 second'`
  await store.sql`
    insert into missed_deliveries (host_id, delivery_id, attempt_id, event, delivered_at, succeeded)
    values (${hostId}, ${randomUUID()}, '1', 'push', now() - interval '5 days', false)`

  expect(await sweepDeliveries(store, 30, AbortSignal.abort())).toBe(0)
  expect(await sweepDeliveries(store, 30, never)).toBe(2_499)
  expect([await count(store, "webhook_deliveries"), await count(store, "missed_deliveries")]).toEqual([1, 0])
})

// F50
test("removes old jobs in batches of their own, between which runners get work and deliveries are queued", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  await push(store, tenant, 1)
  await store.sql`
    insert into review_jobs
    select copy.* from review_jobs j, generate_series(1, 3000) n, jsonb_populate_record(j, jsonb_build_object(
      'id', gen_random_uuid(), 'state', 'failed', 'finished_at', now() - interval '190 days' + n * interval '1 minute',
      'created_at', now() - interval '200 days' + n * interval '1 minute')) copy`
  const old = () => store.sql<[{ n: number }]>`select count(*)::int as n from review_jobs where state = 'failed'`

  let swept: Promise<number> | undefined
  await store.sql.begin(async (sql) => {
    // Somebody holds a job of the second batch.
    await sql`
      select from review_jobs where id = (select id from review_jobs where state = 'failed' order by finished_at offset 1500 limit 1)
      for update`
    swept = sweepJobs(store, 90, never)
    await expect.poll(async () => (await old())[0].n, { timeout: 10_000 }).toBe(2_000)
    await claimed(store, tenant)
    expect(await push(store, tenant, 1)).toMatchObject({ isNew: true })
  })
  expect(await swept).toBe(3_000)
  expect(await old()).toEqual([{ n: 0 }])
})

test("keeps what the environment says and removes the rest, sessions included", async () => {
  const server = await startTestServer({ GALLEY_KEEP_DELIVERIES_DAYS: "5", GALLEY_KEEP_DEAD_TASKS_DAYS: "7" })
  const { store, hostId } = server.context
  await store.sql`
    insert into webhook_deliveries (host_id, delivery_id, event, received_at)
    values (${hostId}, 'old', 'ping', now() - interval '6 days'), (${hostId}, 'new', 'ping', now() - interval '4 days')`
  const [user] = await store.sql<[{ id: string }]>`
    insert into users (id, host_id, github_user_id, login) values (gen_random_uuid(), ${hostId}, 5, 'ann') returning id`
  await store.sql`insert into sessions (id_hash, user_id, expires_at) values ('\\x00', ${user.id}, now() - interval '1 minute')`

  await sweep(server.context, never)

  expect([...(await store.sql`select delivery_id from webhook_deliveries`)]).toEqual([{ delivery_id: "new" }])
  expect(await count(store, "sessions")).toBe(0)
  expect(await store.boss.getQueue(deadTaskQueue)).toMatchObject({ deleteAfterSeconds: 7 * 86_400 })
})

test("sums usage by workspace, day, kind and model, and keeps the sums when the runs are gone", async () => {
  const store = await freshStore()
  const [tenant, stranger] = [await seedTenant(store), await seedTenant(store)]
  const first = await reviewedDaysAgo(store, tenant, 1, 200)
  await reviewedDaysAgo(store, tenant, 1, 100)
  await reviewedDaysAgo(store, tenant, 2, 100)
  await reviewedDaysAgo(store, stranger, 2, 100)
  const [run] = await store.sql<[{ id: string }]>`select id from review_runs where job_id = ${first}`
  await recordRunModel(store, run.id, "fast")
  await store.sql`update review_runs set usage = usage || '{"costUsd": 0.5}' where id = ${run.id}`

  await rollUpUsage(store)
  const days = await listUsageDays(store, tenant.workspaceId, "2000-01-01")
  await sweepJobs(store, 150, never)
  await rollUpUsage(store)

  expect(days).toMatchObject([
    {
      reviewKind: "diff",
      model: "fast",
      runs: 1,
      failedRuns: 0,
      modelCalls: 1,
      inputTokens: 100,
      outputTokens: 10,
      costUsd: 0.5,
      unpricedRuns: 0,
    },
    { reviewKind: "diff", model: "", runs: 2, modelCalls: 2, inputTokens: 200, costUsd: 0, unpricedRuns: 2 },
  ])
  expect(await listUsageDays(store, tenant.workspaceId, "2000-01-01")).toEqual(days)
  expect(await listUsageDays(store, stranger.workspaceId, "2000-01-01")).toMatchObject([{ runs: 1 }])
})

test("sums the last days anew, because runs end and are paid for later", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  await push(store, tenant, 1)
  const lease = await claimed(store, tenant)
  await rollUpUsage(store)
  await completeJob(store, lease, reviewed(lease))
  await rollUpUsage(store)

  expect(await listUsageDays(store, tenant.workspaceId, "2000-01-01")).toMatchObject([{ runs: 1, modelCalls: 1 }])
})
