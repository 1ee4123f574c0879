import { noUsage } from "@galley/contract/usage"
import type { Store } from "@galley/store/database"
import { readReviewHealth } from "@galley/store/health/read-review-health"
import { completeJob } from "@galley/store/queue/complete-job"
import { heartbeat } from "@galley/store/queue/heartbeat"
import { touchRunner } from "@galley/store/runners/touch-runner"
import { deadTaskQueue } from "@galley/store/tasks"
import { expect, test, vi } from "vitest"
import { countRows, fillQueue } from "./queue-load.ts"
import { startTestServer } from "./server-fixture.ts"
import { claimed, freshStore, push, reviewed, runOut, seedTenant } from "./store-fixture.ts"

const capability = (kind: "diff" | "dynamic", expiresInMs: number) => ({
  kind,
  engineVersion: "1",
  boundary: "enforced" as const,
  checkedAt: new Date().toISOString(),
  expiresAt: new Date(Date.now() + expiresInMs).toISOString(),
})

// F16
test("sees whether a live runner of the workspace, or of all, offers the kind of the oldest job that is due", async () => {
  const store = await freshStore()
  const [tenant, stranger] = [await seedTenant(store), await seedTenant(store)]
  await push(store, tenant, 1)
  const offered = async () => (await readReviewHealth(store)).waiting.map((kind) => [kind.kind, kind.oldestUnofferedDueAt === null])
  const seen = (runnerId: string, expiresInMs = 60_000, kind: "diff" | "dynamic" = "diff") =>
    touchRunner(store, { id: runnerId, usesOldToken: false }, { name: "r", version: "1", capabilities: [capability(kind, expiresInMs)] })

  expect(await offered()).toEqual([["diff", false]])
  await seen(stranger.runnerId)
  await seen(tenant.runnerId, 60_000, "dynamic")
  expect(await offered()).toEqual([["diff", false]])
  await seen(tenant.runnerId, -1)
  expect(await offered()).toEqual([["diff", false]])
  await seen(tenant.runnerId)
  expect(await offered()).toEqual([["diff", true]])
  await store.sql`update runners set last_seen_at = now() - interval '2 minutes'`
  expect(await offered()).toEqual([["diff", false]])
})

// R-FLEET-5
test("counts a runner as live that works on a review and polls no more for that, as long as it is heard of", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  for (const number of [1, 2]) await push(store, tenant, number)
  const seen = { name: "r", version: "0.1.0", capabilities: [capability("diff", 60_000)] }
  await touchRunner(store, { id: tenant.runnerId, usesOldToken: false }, seen)
  const lease = await claimed(store, tenant)
  await store.sql`update runners set last_seen_at = now() - interval '2 minutes'`
  const unoffered = async () => (await readReviewHealth(store)).waiting.map(({ oldestUnofferedDueAt }) => oldestUnofferedDueAt)

  expect(await unoffered()).toEqual([null])
  await store.sql`update review_runs set started_at = now() - interval '2 minutes'`
  expect(await unoffered()).toEqual([expect.any(Date)])
  await heartbeat(store, lease, { phase: "reviewing", progress: "", usage: noUsage })
  expect(await unoffered()).toEqual([null])
  await completeJob(store, lease, reviewed(lease))
  expect(await unoffered()).toEqual([expect.any(Date)])
})

test("does not count jobs that are not due or whose pull request is busy", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  await push(store, tenant, 1)
  await claimed(store, tenant)
  await push(store, tenant, 1)
  await push(store, tenant, 2, { wanted: { debounceMs: 60_000 } })

  expect((await readReviewHealth(store)).waiting).toEqual([])
})

test("sees leases that ran out, results that wait for publication, failed deliveries and tasks that were given up", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  await push(store, tenant, 1)
  await push(store, tenant, 2)
  const [lost, done] = [await claimed(store, tenant), await claimed(store, tenant)]
  await runOut(store, lost.leaseId)
  await completeJob(store, done, reviewed(done))
  await store.sql`
    insert into missed_deliveries (host_id, delivery_id, attempt_id, event, delivered_at, succeeded)
    values (${tenant.hostId}, 'a', '1', 'push', now() - interval '2 hours', false), (${tenant.hostId}, 'b', '2', 'push', now(), true)`
  await store.boss.send(deadTaskQueue, {})

  const health = await readReviewHealth(store)

  expect(health).toMatchObject({ expiredLeases: { count: 1 }, publications: { count: 1 }, failedDeliveries: { count: 1 }, deadTasks: 1 })
  expect(health.now.getTime() - Number(health.failedDeliveries.oldestAt)).toBeGreaterThan(7_000_000)
})

test("tells of a task that was given up also once what it left behind is ended", async () => {
  const { context } = await startTestServer()
  const { boss } = context.store
  const id = (await boss.send(deadTaskQueue, {})) ?? ""

  await vi.waitFor(async () => expect(await boss.findJobs(deadTaskQueue, { id })).toMatchObject([{ state: "completed" }]), 15_000)

  expect(await readReviewHealth(context.store)).toMatchObject({ deadTasks: 1 })
})

test("counts the jobs of the last hour that failed at every attempt, and no others", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const ended = async (number: number, code: string, ago: string) => {
    const { jobId } = await push(store, tenant, number)
    await store.sql`update review_jobs set state = 'failed', code = ${code}, finished_at = now() - ${ago}::interval where id = ${jobId}`
  }
  await ended(1, "attempts_exhausted", "59 minutes")
  await ended(2, "attempts_exhausted", "61 minutes")
  await ended(3, "engine_failed", "1 minute")

  expect(await readReviewHealth(store)).toMatchObject({ exhaustedJobs: 1 })
})

test("reads each busy job once at most, also when statistics know of none", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  await fillQueue(store, tenant, 1_200)
  await store.sql`update review_jobs set state = 'cancelled', finished_at = now()`
  await store.sql`vacuum analyze review_jobs`
  await store.sql`update review_jobs set state = 'waiting', finished_at = null where id in (select id from review_jobs limit 1000)`
  await store.sql`update review_jobs set state = 'publishing', finished_at = null where state = 'cancelled'`

  const { rows, value } = await countRows(store, (sql) => readReviewHealth({ ...store, sql: sql as Store["sql"] }))

  expect(value.waiting).toMatchObject([{ kind: "diff" }])
  expect(rows).toBeLessThan(5_000)
})

test("answers 200 while reviews get through and 503 when they do not, without naming a tenant", async () => {
  const server = await startTestServer()
  const { store } = server.context
  const tenant = await seedTenant(store)
  expect((await server.app.request("/health/reviews")).status).toBe(200)

  await push(store, tenant, 1)
  await store.sql`update review_jobs set run_after = now() - interval '10 minutes'`
  const answer = await server.app.request("/health/reviews")

  expect(answer.status).toBe(503)
  const text = await answer.text()
  expect(JSON.parse(text)).toMatchObject({
    status: "failing",
    checks: [{ check: "waiting_diff", ok: false, offered: false }, {}, {}, {}, {}, {}, {}],
  })
  const [workspace] = await store.sql<[{ slug: string }]>`select slug from workspaces where id = ${tenant.workspaceId}`
  for (const secret of [tenant.workspaceId, tenant.projectId, workspace.slug]) expect(text).not.toContain(secret)
})
