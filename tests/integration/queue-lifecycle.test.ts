import { noUsage } from "@galley/contract/usage"
import { cancelJob } from "@galley/store/queue/cancel-job"
import { claimJobs, findLease } from "@galley/store/queue/claim-jobs"
import { completeJob } from "@galley/store/queue/complete-job"
import { expireLeases } from "@galley/store/queue/expire-leases"
import { failJob } from "@galley/store/queue/fail-job"
import { heartbeat } from "@galley/store/queue/heartbeat"
import { releaseJob } from "@galley/store/queue/release-job"
import { expect, test } from "vitest"
import { claim, claimed, freshStore, makeDue, push, readJob, reviewed, runOut, seedTenant, sha } from "./store-fixture.ts"

const working = { phase: "reviewing" as const, progress: "3 model calls", usage: { ...noUsage, modelCalls: 3, inputTokens: 500 } }
const passing = { code: "github_unavailable", detail: "502", retryable: true, usage: noUsage }
const later = new Date("2026-11-30T12:00:00Z")

test("renews a lease with each heartbeat and keeps phase, progress and usage", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  await push(store, tenant, 1)
  const lease = await claimed(store, tenant, { leaseMs: 5_000 })
  const expiry = () => store.sql<[{ at: Date }]>`select lease_expires_at as at from review_jobs`
  const [before] = await expiry()

  expect(await heartbeat(store, lease, working)).toBe("continue")

  const [after] = await expiry()
  expect(after.at.getTime() - before.at.getTime()).toBeGreaterThan(50_000)
  const [run] = await store.sql`select phase, progress, usage from review_runs`
  expect(run).toEqual(working)
})

// R-QUEUE-8
test("answers every verb on a lease that ran out with lease_lost, even before anyone settled it", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  await push(store, tenant, 1)
  const lease = await claimed(store, tenant)
  await runOut(store, lease.leaseId)

  const lost = { code: "lease_lost" }
  await expect(heartbeat(store, lease, working)).rejects.toMatchObject(lost)
  await expect(completeJob(store, lease, reviewed(lease))).rejects.toMatchObject(lost)
  await expect(failJob(store, lease, passing)).rejects.toMatchObject(lost)
  await expect(releaseJob(store, lease)).rejects.toMatchObject(lost)
  expect(await findLease(store.sql, lease)).toBeNull()
})

// R-QUEUE-8
test("answers a wrong token, another runner and an old fence with lease_lost", async () => {
  const store = await freshStore()
  const [tenant, other] = [await seedTenant(store), await seedTenant(store)]
  await push(store, tenant, 1)
  const lease = await claimed(store, tenant)

  const lost = { code: "lease_lost" }
  await expect(heartbeat(store, { ...lease, leaseToken: "wrong" }, working)).rejects.toMatchObject(lost)
  await expect(heartbeat(store, { ...lease, runnerId: other.runnerId }, working)).rejects.toMatchObject(lost)
  await expect(completeJob(store, lease, reviewed(lease, { fence: lease.fence - 1 }))).rejects.toMatchObject(lost)
})

// R-QUEUE-7, R-QUEUE-12
test("gives a job whose runner vanished to the next one with a higher fence and the usage so far", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const { jobId } = await push(store, tenant, 1)
  const first = await claimed(store, tenant)
  await heartbeat(store, first, working)
  await runOut(store, first.leaseId)

  expect(await expireLeases(store)).toMatchObject([{ jobId, runId: first.leaseId, state: "waiting" }])
  expect(await claim(store, tenant)).toBeNull()
  await makeDue(store, jobId)
  const second = await claimed(store, tenant)

  expect(second.fence).toBeGreaterThan(first.fence)
  expect(second).toMatchObject({ jobId, attempt: 2, usageSoFar: { modelCalls: 3, inputTokens: 500 } })
  await expect(completeJob(store, first, reviewed(first))).rejects.toMatchObject({ code: "lease_lost" })
})

test("settles leases that ran out by the way of a claim", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store, { maxRunningJobs: 1 })
  const lost = await push(store, tenant, 1)
  const lease = await claimed(store, tenant)
  const next = await push(store, tenant, 2)
  await runOut(store, lease.leaseId)

  expect((await claimed(store, tenant)).jobId).toBe(next.jobId)
  expect(await readJob(store, lost.jobId)).toMatchObject({ state: "waiting", failures: 1 })
})

// R-QUEUE-7
test("supersedes a job whose lease ran out when a newer one of its pull request waits", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const old = await push(store, tenant, 1)
  const lease = await claimed(store, tenant)
  const newer = await push(store, tenant, 1, { snapshot: { headSha: sha("a2"), updatedAt: later } })
  await runOut(store, lease.leaseId)

  expect(await expireLeases(store)).toMatchObject([{ jobId: old.jobId, state: "superseded" }])
  expect((await claimed(store, tenant)).jobId).toBe(newer.jobId)
})

test("never collides with a push when a lease runs out, in forty races", async () => {
  const store = await freshStore()
  const other = await freshStore(store.url)
  const tenant = await seedTenant(store, { maxRunningJobs: 1000 })
  for (let number = 1; number <= 40; number++) await push(store, tenant, number)
  for (let number = 1; number <= 40; number++) await runOut(store, (await claimed(store, tenant)).leaseId)

  await Promise.all([
    ...Array.from({ length: 40 }, (_, i) => push(other, tenant, i + 1, { snapshot: { headSha: sha("a2"), updatedAt: later } })),
    ...Array.from({ length: 20 }, () => expireLeases(store)),
  ])
  await expireLeases(store)

  const [count] = await store.sql`
    select count(*) filter (where state = 'waiting')::int as waiting, count(*) filter (where state = 'running')::int as running,
      count(distinct pull_request_id) filter (where state = 'waiting' and head_sha = ${sha("a2")})::int as newest
    from review_jobs`
  expect(count).toEqual({ waiting: 40, running: 0, newest: 40 })
})

// F40, R-QUEUE-7, R-QUEUE-9
test("gives up a job that loses its runner three times, and goes on with others", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const poison = await push(store, tenant, 1)
  for (let attempt = 1; attempt <= 3; attempt++) {
    await makeDue(store, poison.jobId)
    await runOut(store, (await claimed(store, tenant)).leaseId)
    await expireLeases(store)
  }
  const next = await push(store, tenant, 2)

  expect(await readJob(store, poison.jobId)).toMatchObject({ state: "failed", code: "attempts_exhausted", detail: "runner_lost" })
  expect((await claimed(store, tenant)).jobId).toBe(next.jobId)
})

test("tries a passing failure again after 15 and 60 seconds, and gives up at the third", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const { jobId } = await push(store, tenant, 1)
  const delays: number[] = []
  for (let attempt = 1; attempt <= 3; attempt++) {
    await makeDue(store, jobId)
    const failedAt = Date.now()
    await failJob(store, await claimed(store, tenant), passing)
    delays.push(Math.round(((await readJob(store, jobId)).runAfter.getTime() - failedAt) / 5_000) * 5)
  }

  expect(delays.slice(0, 2)).toEqual([15, 60])
  expect(await readJob(store, jobId)).toMatchObject({ state: "failed", code: "attempts_exhausted" })
})

test("fails a job at once when another attempt would end the same way", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const { jobId } = await push(store, tenant, 1)

  await failJob(store, await claimed(store, tenant), { ...passing, code: "input_too_large", retryable: false })

  expect(await readJob(store, jobId)).toMatchObject({ state: "failed", code: "input_too_large", failures: 1 })
})

test("starts counting failures anew when a waiting job moves to a newer head", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const { jobId } = await push(store, tenant, 1)
  await failJob(store, await claimed(store, tenant), passing)

  await push(store, tenant, 1, { snapshot: { headSha: sha("a2"), updatedAt: later } })

  expect(await readJob(store, jobId)).toMatchObject({ state: "waiting", headSha: sha("a2"), failures: 0 })
})

test("gives a released job to the next runner at once, without counting an attempt", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const { jobId } = await push(store, tenant, 1)

  await releaseJob(store, await claimed(store, tenant))

  expect(await readJob(store, jobId)).toMatchObject({ state: "waiting", failures: 0 })
  expect(await claimed(store, tenant)).toMatchObject({ jobId, attempt: 2 })
})

// R-QUEUE-13
test("stores a result once: the same again changes nothing, another is refused", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const { jobId } = await push(store, tenant, 1)
  const lease = await claimed(store, tenant)

  expect(await completeJob(store, lease, reviewed(lease))).toBe(true)
  expect(await completeJob(store, lease, reviewed(lease))).toBe(false)
  await expect(completeJob(store, lease, reviewed(lease, { comment: "another" }))).rejects.toMatchObject({ code: "result_conflict" })

  expect(await readJob(store, jobId)).toMatchObject({ state: "publishing" })
  const tasks = await store.boss.findJobs("publish-comment", { data: { jobId } })
  expect(tasks).toHaveLength(1)
})

test("stores a result once when the same answer arrives twice at the same time", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const { jobId } = await push(store, tenant, 1)
  const lease = await claimed(store, tenant)

  const stored = await Promise.all(Array.from({ length: 5 }, () => completeJob(store, lease, reviewed(lease))))

  expect(stored.filter(Boolean)).toHaveLength(1)
  expect(await store.boss.findJobs("publish-comment", { data: { jobId } })).toHaveLength(1)
})

// R-CHECKOUT-11
test("ends a job without a publication when there was nothing to review", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const { jobId } = await push(store, tenant, 1)
  const lease = await claimed(store, tenant)
  const { coverage, usage, trace, fence, reviewedSha } = reviewed(lease)

  await completeJob(store, lease, { outcome: "skipped", code: "no_reviewable_files", coverage, usage, trace, fence, reviewedSha })

  expect(await readJob(store, jobId)).toMatchObject({ state: "skipped", code: "no_reviewable_files" })
  expect(await store.boss.findJobs("publish-comment", { data: { jobId } })).toEqual([])
})

test("tells a runner to stop when a person cancels, and ends the job cancelled", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const { jobId } = await push(store, tenant, 1)
  const lease = await claimed(store, tenant)
  await cancelJob(store, tenant.workspaceId, jobId, "octocat")

  expect(await heartbeat(store, lease, working)).toBe("cancel")
  await releaseJob(store, lease)
  expect(await readJob(store, jobId)).toMatchObject({ state: "cancelled", code: "cancelled_by_user" })
})

test("publishes nothing when a person cancelled before the result came, and keeps the result", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const { jobId } = await push(store, tenant, 1)
  const lease = await claimed(store, tenant)
  await cancelJob(store, tenant.workspaceId, jobId, "octocat")

  expect(await completeJob(store, lease, reviewed(lease))).toBe(true)

  expect(await readJob(store, jobId)).toMatchObject({ state: "cancelled", code: "cancelled_by_user" })
  expect(await store.boss.findJobs("publish-comment", { data: { jobId } })).toEqual([])
  expect([...(await store.sql`select r.outcome, r.code from review_runs r join review_results s on s.run_id = r.id`)]).toEqual([
    { outcome: "cancelled", code: "cancelled_by_user" },
  ])
  expect(await completeJob(store, lease, reviewed(lease))).toBe(false)
})

test("cancels a waiting job at once, and no job of another workspace", async () => {
  const store = await freshStore()
  const [tenant, stranger] = [await seedTenant(store), await seedTenant(store)]
  const { jobId } = await push(store, tenant, 1)

  await expect(cancelJob(store, stranger.workspaceId, jobId, "mallory")).rejects.toMatchObject({ code: "not_found" })
  await cancelJob(store, tenant.workspaceId, jobId, "octocat")

  expect(await readJob(store, jobId)).toMatchObject({ state: "cancelled", code: "cancelled_by_user" })
  expect(await claim(store, tenant)).toBeNull()
})

test("tells a runner to stop when the pull request closed, and does not try again", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const { jobId } = await push(store, tenant, 1)
  const lease = await claimed(store, tenant)
  await store.sql`update pull_requests set open = false`

  expect(await heartbeat(store, lease, working)).toBe("cancel")
  await failJob(store, lease, passing)
  expect(await readJob(store, jobId)).toMatchObject({ state: "cancelled", code: "pull_request_closed" })
})

test("lets a newer head supersede a run only as long as no model call was paid for", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const { jobId } = await push(store, tenant, 1)
  const lease = await claimed(store, tenant)
  await push(store, tenant, 1, { snapshot: { headSha: sha("a2"), updatedAt: later } })

  expect(await heartbeat(store, lease, { ...working, phase: "preparing", usage: noUsage })).toBe("superseded")
  expect(await heartbeat(store, lease, working)).toBe("continue")
  await releaseJob(store, lease)
  expect(await readJob(store, jobId)).toMatchObject({ state: "superseded", code: "head_superseded" })
})

// F52
test("cancels the retry of a run whose project changed its kind meanwhile", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const { jobId } = await push(store, tenant, 1)
  const lease = await claimed(store, tenant)
  await store.sql`update projects set settings = settings || '{"reviewKind": "dynamic"}'`

  await failJob(store, lease, passing)

  expect(await readJob(store, jobId)).toMatchObject({ state: "cancelled", code: "review_kind_changed" })
})

test("passes over a claim request without kinds, and answers none with nothing", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  await push(store, tenant, 1)

  expect(await claimJobs(store, [])).toEqual([])
  expect(await claim(store, tenant, { kinds: [] })).toBeNull()
})
