import { noUsage } from "@galley/contract/usage"
import { expect, test } from "vitest"
import { codeOf, failure, leased } from "./runner-fixture.ts"

test("tries a job again after a passing failure, later each time, and gives up at the third", async () => {
  const { server, lease } = await leased()
  const { sql } = server.context.store
  let current = lease
  for (const [failures, least, most] of [
    [1, 13_000, 15_000],
    [2, 58_000, 60_000],
  ] as const) {
    expect((await server.on(current, "failure", failure(current))).status).toBe(200)
    const job = await server.job()
    expect(job).toMatchObject({ state: "waiting", failures })
    expect(job.waitMs).toBeGreaterThan(least)
    expect(job.waitMs).toBeLessThanOrEqual(most)
    await sql`update review_jobs set run_after = now()`
    const { fence } = current
    current = await server.lease()
    expect(current).toMatchObject({ attempt: failures + 1 })
    expect(current.fence).toBeGreaterThan(fence)
  }
  await server.on(current, "failure", failure(current))
  expect(await server.job()).toMatchObject({ state: "failed", code: "attempts_exhausted", failures: 3 })
})

test("ends a job at once after a failure that would come again", async () => {
  const { server, lease } = await leased()
  await server.on(lease, "failure", failure(lease, { code: "input_too_large", retryable: false }))
  expect(await server.job()).toMatchObject({ state: "failed", code: "input_too_large" })
})

// R-PROTO-5
test("puts a job off that a runner reports GitHub stood in the way of, counts no attempt and keeps what was spent", async () => {
  const { server, lease } = await leased()
  const { sql } = server.context.store
  let current = lease
  for (const [code, waitMs] of [
    ["github_unavailable", 15_000],
    ["github_rate_limited", 30_000],
    ["github_unavailable", 60_000],
  ] as const) {
    const report = failure(current, { code, usage: { ...noUsage, modelCalls: 1 } })
    expect((await server.on(current, "failure", report)).status).toBe(200)
    const job = await server.job()
    expect(job).toMatchObject({ state: "waiting", failures: 0 })
    expect(job.waitMs).toBeGreaterThan(waitMs - 5_000)
    expect(job.waitMs).toBeLessThanOrEqual(waitMs)
    await sql`update review_jobs set run_after = now()`
    current = await server.lease()
  }
  expect(current).toMatchObject({ attempt: 4, usageSoFar: { modelCalls: 3 } })
})

test("refuses a failure that names another lease's fence", async () => {
  const { server, lease } = await leased()
  const answer = await server.on(lease, "failure", failure(lease, { fence: 9 }))
  expect(await codeOf(answer)).toMatchObject({ status: 422, code: "request_invalid", field: "fence" })
  expect(await server.job()).toMatchObject({ state: "running" })
})

// R-PROTO-2
test("takes a job back from a runner that drains, without counting an attempt", async () => {
  const { server, lease } = await leased()
  expect((await server.on(lease, "release")).status).toBe(200)
  const next = await server.lease()
  expect(next.job.id).toBe(lease.job.id)
  expect(next.fence).toBeGreaterThan(lease.fence)
  expect(await server.job()).toMatchObject({ failures: 0 })
})
