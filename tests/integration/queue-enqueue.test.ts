import { enqueueJob } from "@galley/store/queue/enqueue-job"
import { inTransaction } from "@galley/store/transaction"
import { expect, test } from "vitest"
import { claimed, freshStore, push, readJob, seedTenant, sha } from "./store-fixture.ts"

const minute = (minutes: number) => new Date(Date.UTC(2026, 10, 30, 10, minutes))
const debounced = { debounceMs: 30_000 }

// R-INTAKE-10
test("joins a burst of pushes into one waiting job at the newest head", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const jobs = []
  for (const [minutes, head] of [sha("a1"), sha("a2"), sha("a3")].entries()) {
    const snapshot = { headSha: head, updatedAt: minute(minutes) }
    jobs.push(await push(store, tenant, 1, { snapshot, wanted: debounced }))
  }

  expect(new Set(jobs.map(({ jobId }) => jobId)).size).toBe(1)
  expect(jobs.map(({ isNew }) => isNew)).toEqual([true, false, false])
  expect(await readJob(store, jobs[0]?.jobId ?? "")).toMatchObject({ state: "waiting", headSha: sha("a3") })
})

test("keeps one waiting job when twenty pushes arrive at once", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)

  const jobs = await Promise.all(
    Array.from({ length: 20 }, (_, i) => push(store, tenant, 1, { snapshot: { headSha: sha(`${10 + i}`), updatedAt: minute(i) } })),
  )

  expect(new Set(jobs.map(({ jobId }) => jobId)).size).toBe(1)
  expect((await readJob(store, jobs[0]?.jobId ?? "")).headSha).toBe(sha("29"))
})

// R-INTAKE-10
test("lets each push put the job off, but never past five minutes after the first", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const first = await push(store, tenant, 1, { wanted: debounced })
  const [queued] = await store.sql<[{ at: Date }]>`select first_queued_at as at from review_jobs where id = ${first.jobId}`

  const later = await push(store, tenant, 1, { wanted: { debounceMs: 60_000 } })
  const last = await push(store, tenant, 1, { wanted: { debounceMs: 400_000 } })

  expect(later.runAfter.getTime() - first.runAfter.getTime()).toBeGreaterThan(25_000)
  expect(last.runAfter.getTime() - queued.at.getTime()).toBe(300_000)
})

// R-INTAKE-11
test("never lets an older delivery replace a newer head or delay it", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const newer = await push(store, tenant, 1, { snapshot: { headSha: sha("a2"), updatedAt: minute(5) } })

  const older = await push(store, tenant, 1, { snapshot: { headSha: sha("a1"), updatedAt: minute(4) }, wanted: debounced })

  expect(older.jobId).toBe(newer.jobId)
  expect(await readJob(store, newer.jobId)).toMatchObject({ headSha: sha("a2"), runAfter: newer.runAfter })
})

test("keeps what is newest known of a pull request when events overtake each other", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  await push(store, tenant, 1, { snapshot: { headSha: sha("a2"), title: "new", updatedAt: minute(5) } })
  await push(store, tenant, 1, { snapshot: { headSha: sha("a1"), title: "old", updatedAt: minute(4) } })

  const rows = await store.sql`select title, head_sha from pull_requests`
  expect([...rows]).toEqual([{ title: "new", head_sha: sha("a2") }])
})

test("brings a debounced job forward when a person asks, and later pushes do not delay it again", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  await push(store, tenant, 1, { wanted: debounced })
  const asked = await push(store, tenant, 1, { wanted: { priority: 10, cause: "manual", requestedBy: "octocat" } })
  const pushed = await push(store, tenant, 1, { snapshot: { headSha: sha("a2"), updatedAt: minute(9) }, wanted: debounced })

  expect(pushed).toMatchObject({ jobId: asked.jobId, runAfter: asked.runAfter })
  expect(await claimed(store, tenant)).toMatchObject({ headSha: sha("a2") })
})

test("queues a new job beside a running one", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const running = await push(store, tenant, 1)
  await claimed(store, tenant)

  const next = await push(store, tenant, 1, { snapshot: { headSha: sha("a2"), updatedAt: minute(9) } })

  expect(next.isNew).toBe(true)
  expect((await readJob(store, running.jobId)).headSha).toBe(sha("a1"))
})

test("queues nothing for a pull request of another workspace", async () => {
  const store = await freshStore()
  const [owner, stranger] = [await seedTenant(store), await seedTenant(store)]
  const { pullRequestId } = await push(store, owner, 1)

  const wanted = inTransaction(store, (tx) =>
    enqueueJob(tx, {
      workspaceId: stranger.workspaceId,
      pullRequestId,
      headSha: sha("a1"),
      baseSha: sha("b0"),
      headUpdatedAt: minute(1),
      kind: "diff",
      cause: "manual",
      debounceMs: 0,
      priority: 10,
    }),
  )

  await expect(wanted).rejects.toThrow()
})
