import { randomUUID } from "node:crypto"
import { Lease, RUNNER_PROTOCOL_PATH } from "@galley/contract/protocol"
import { expect, test } from "vitest"
import { leaseRequest, REPO, startReviewServer, until } from "./review-fixture.ts"
import { codeOf } from "./runner-fixture.ts"
import { RUNNER_TOKEN } from "./server-fixture.ts"

test("answers 204 when nothing came within the wait", async () => {
  const server = await startReviewServer()
  const started = performance.now()
  expect(await server.poll({ waitMs: 300 })).toBeNull()
  expect(performance.now() - started).toBeGreaterThanOrEqual(295)
})

test("wakes a waiting poll as soon as a job is queued, long before its own look", async () => {
  const server = await startReviewServer()
  const polled = server.poll()
  await server.openPullRequest()
  const queued = performance.now()
  expect(await polled).toMatchObject({ job: { headSha: server.change.headSha, kind: "diff" } })
  expect(performance.now() - queued).toBeLessThan(1_000)
})

// F13
test("serves many waiting polls at once without leasing a job twice", async () => {
  const server = await startReviewServer()
  const polls = Array.from({ length: 12 }, () => server.poll({ waitMs: 1_500 }))
  const { baseSha, headSha } = server.change
  for (const number of [1, 2, 3]) await server.github.openPullRequest({ repo: REPO, number, baseSha, headRef: `change-${number}`, headSha })
  const leases = (await Promise.all(polls)).filter((lease) => lease !== null)
  expect(leases.map((lease) => lease.job.pullRequest.number).toSorted()).toEqual([1, 2, 3])
  expect(new Set(leases.map((lease) => lease.leaseToken)).size).toBe(3)
})

// F12, R-QUEUE-6
test("answers the same request with the same lease again, also while the first answer is under way", async () => {
  const server = await startReviewServer()
  await server.openPullRequest()
  const requestId = randomUUID()
  const [first, twin] = await Promise.all([server.poll({ requestId }), server.poll({ requestId })])
  const again = await server.poll({ requestId })
  expect(first).not.toBeNull()
  expect(twin).toEqual(first)
  expect(again).toEqual(first)
})

test("never leaves a lease with a runner that left: the job goes back at once", async () => {
  const server = await startReviewServer()
  for (let round = 0; round < 15; round++) {
    const leaving = new AbortController()
    const polled = server.app.request(`${RUNNER_PROTOCOL_PATH}/leases`, {
      method: "POST",
      body: JSON.stringify(leaseRequest({ waitMs: 10_000 })),
      headers: { authorization: `Bearer ${RUNNER_TOKEN}` },
      signal: leaving.signal,
    })
    // From before the claim over the claim itself to the read of the comment.
    if (round === 0) await server.openPullRequest()
    if (round % 3 === 0) leaving.abort()
    else if (round % 3 === 1) setTimeout(() => leaving.abort(), round)
    else await until(server.job, ({ state }) => state === "running").then(() => leaving.abort())
    const answer = await polled
    if (answer.status === 200) await server.on(Lease.parse(await answer.json()), "release")
    expect(await server.job()).toMatchObject({ state: "waiting", failures: 0 })
  }
})

// F16, R-QUEUE-3
test("gives no job to a runner whose proof ran out or that proved another kind", async () => {
  const server = await startReviewServer()
  await server.openPullRequest()
  const [diff, dynamic] = leaseRequest().capabilities
  if (diff === undefined || dynamic === undefined) throw new Error("two kinds were proved")
  expect(await server.poll({ waitMs: 100, capabilities: [{ ...diff, expiresAt: "2026-01-01T00:00:00Z" }] })).toBeNull()
  expect(await server.poll({ waitMs: 100, capabilities: [dynamic] })).toBeNull()
})

// B51
test.each([
  ["no JSON", "{", undefined],
  ["no capability", JSON.stringify({ ...leaseRequest(), capabilities: [] }), "capabilities"],
  ["an unknown kind", JSON.stringify(leaseRequest()).replaceAll('"diff"', '"magic"'), "capabilities.0.kind"],
  ["a wait over the bound", JSON.stringify(leaseRequest({ waitMs: 25_001 })), "waitMs"],
])("refuses a poll with %s and names the field", async (_, body, field) => {
  const server = await startReviewServer()
  const headers = { authorization: `Bearer ${RUNNER_TOKEN}` }
  const answer = await codeOf(await server.app.request(`${RUNNER_PROTOCOL_PATH}/leases`, { method: "POST", body, headers }))
  expect(answer).toMatchObject({ status: 422, code: "request_invalid" })
  expect(answer.field).toBe(field)
})

test("never reviews with a model the workspace did not choose", async () => {
  const server = await startReviewServer()
  await server.context.store.sql`delete from model_providers`
  await server.openPullRequest()
  expect(await server.poll()).toBeNull()
  expect(await server.job()).toMatchObject({ state: "failed", code: "model_not_configured" })
})

test("answers everyone who waits when the server stops", async () => {
  const server = await startReviewServer()
  const polls = [1, 2, 3].map(() => server.poll({ waitMs: 20_000 }))
  await until(
    () => server.context.store.sql`select 1 from runners where last_seen_at is not null`,
    (rows) => rows.length > 0,
  )
  await server.stopWaiting()
  expect(await Promise.all(polls)).toEqual([null, null, null])
  expect(await server.poll({ waitMs: 20_000 })).toBeNull()
})

// F21
test.each([1, -1])("counts a proof by the clock of the runner that made it, which is %i h off", async (hours) => {
  const server = await startReviewServer()
  await server.openPullRequest()
  const runnerNow = Date.now() + hours * 3_600_000
  const poll = async (proofMs: number) => {
    const capabilities = leaseRequest().capabilities.map((proof) => ({ ...proof, expiresAt: new Date(runnerNow + proofMs).toISOString() }))
    return server.runner("/leases", leaseRequest({ waitMs: 100, capabilities }), { date: new Date(runnerNow).toUTCString() })
  }
  expect((await poll(-60_000)).status).toBe(204)
  expect((await poll(60_000)).status).toBe(200)
  const [runner] = await server.context.store.sql`
    select (capabilities -> 0 ->> 'expiresAt')::timestamptz between now() and now() + interval '62 s' as soon from runners`
  expect(runner).toEqual({ soon: true })
})
