import { taskQueues } from "@galley/store/tasks"
import { expect, test } from "vitest"
import { comments, oneComment, opened, requests, settled } from "./publication-fixture.ts"
import { commentOf, PULL, type ReviewServer, resultOf, stateAt, until } from "./review-fixture.ts"

// F36
const finalFaults: [string, Parameters<ReviewServer["github"]["addFault"]>[0], string][] = [
  [
    "a permission that was taken away",
    { method: "PATCH", path: oneComment, effect: { kind: "status", status: 403, message: "Resource not accessible by integration" } },
    "publish_forbidden",
  ],
  [
    "a locked conversation",
    {
      method: "PATCH",
      path: oneComment,
      effect: { kind: "status", status: 403, message: "Unable to create comment because issue is locked." },
    },
    "publish_locked",
  ],
  [
    "a body GitHub refuses",
    { method: "PATCH", path: oneComment, effect: { kind: "status", status: 422, message: "Validation Failed" } },
    "comment_invalid",
  ],
  [
    "comments that may not be read",
    { method: "GET", path: oneComment, effect: { kind: "status", status: 403, message: "Resource not accessible by integration" } },
    "publish_forbidden",
  ],
]

// R-COMMENT-5
test.each(finalFaults)("gives a publication up for good after %s, and keeps the last good comment", async (_, fault, code) => {
  const server = await opened()
  await server.review("good")
  const good = server.botComments()
  await server.command()
  const lease = await server.lease()
  server.github.addFault({ ...fault, times: 50 })
  const state = stateAt(lease.job.headSha)
  await server.on(lease, "result", resultOf(lease, { state, comment: commentOf(state, "new") }))
  expect(await settled(server)).toMatchObject({ state: "failed", code })
  expect(server.botComments()).toEqual(good)
  const [task] = await server.context.store.sql<[{ retries: number }]>`
    select max(retry_count)::int as retries from pgboss.job where name = ${taskQueues.publishComment}`
  expect(task.retries).toBe(0)
  expect(server.github.requests().filter((request) => request.fault !== null)).toHaveLength(1)
})

test.each([
  ["gone", 410, "Gone", "publish_gone"],
  ["gone without a trace", 404, "Not Found", "publish_gone"],
])("gives a first publication up when the pull request is %s", async (_, status, message, code) => {
  const server = await opened()
  const lease = await server.lease()
  server.github.addFault({ path: comments, times: 50, effect: { kind: "status", status, message } })
  await server.on(lease, "result", resultOf(lease))
  expect(await settled(server)).toMatchObject({ state: "failed", code })
})

test("gives a first publication up in a conversation that was locked meanwhile", async () => {
  const server = await opened()
  const lease = await server.lease()
  await server.github.lockPullRequest(PULL, true)
  await server.on(lease, "result", resultOf(lease))
  expect(await settled(server)).toMatchObject({ state: "failed", code: "publish_locked" })
  expect(server.botComments()).toEqual([])
})

// F37, R-COMMENT-7
test.each([
  ["a secondary limit", { kind: "secondary_limit", retryAfterSeconds: 2 } as const],
  ["429 with retry-after", { kind: "status", status: 429, message: "slow down", headers: { "retry-after": "2" } } as const],
  ["a spent hour", { kind: "rate_limit", resetInSeconds: 2 } as const],
])("puts a publication off for %s, asks GitHub nothing meanwhile, and publishes afterwards", async (_, effect) => {
  const server = await opened()
  const lease = await server.lease()
  server.github.clearRequests()
  server.github.addFault({ method: "POST", path: comments, effect })
  await server.on(lease, "result", resultOf(lease))
  await until(server.github.requests, (all) => all.some(({ fault }) => fault === effect.kind))
  const limitedAt = performance.now()
  expect(await server.job()).toMatchObject({ state: "publishing" })
  expect(await settled(server)).toMatchObject({ state: "succeeded" })
  expect(performance.now() - limitedAt).toBeGreaterThan(1_000)
  expect(server.botComments()).toHaveLength(1)
  expect(requests(server, "POST").filter(({ path }) => path.endsWith("/comments"))).toHaveLength(2)
})

// R-COMMENT-7
test("keeps other work of a limited installation back without asking GitHub, and leaves other installations alone", async () => {
  const server = await opened()
  const call = (installation: number) =>
    server.context.github.forRepository(installation, [...server.github.state.repositories.keys()][0] ?? 0)
  server.github.addFault({ method: "GET", path: "/repos/**", effect: { kind: "secondary_limit", retryAfterSeconds: 600 } })
  const read = () => call(7)("read", "GET /repos/acme/shop/pulls/1", {})
  await expect(read()).rejects.toMatchObject({ code: "github_rate_limited" })
  server.github.clearRequests()
  await expect(read()).rejects.toMatchObject({ code: "github_rate_limited", details: { retryAfterSeconds: 600 } })
  expect(server.github.requests()).toEqual([])
  await expect(call(8)("read", "GET /repos/acme/shop/pulls/1", {})).rejects.toMatchObject({ code: "installation_gone" })
})

// report B31
test.each([
  ["suspended", (server: ReviewServer) => server.github.suspendInstallation(7, true), "installation_suspended"],
  ["removed", (server: ReviewServer) => server.github.deleteInstallation(7), "installation_gone"],
])("gives a publication up when the installation was %s before it", async (_, change, code) => {
  const server = await opened()
  const lease = await server.lease()
  await change(server)
  await server.on(lease, "result", resultOf(lease))
  expect(await settled(server)).toMatchObject({ state: "failed", code })
})

// F51
test("replaces a token that GitHub ended before its time", async () => {
  const server = await opened()
  const lease = await server.lease()
  server.github.expireTokens()
  await server.on(lease, "result", resultOf(lease))
  expect(await settled(server)).toMatchObject({ state: "succeeded" })
})

test("does not write what a newer review overtook", async () => {
  const server = await opened()
  await server.review("good")
  const good = server.botComments()
  await server.command()
  const lease = await server.lease()
  await server.context.store.sql`update pull_requests set published_fence = ${lease.fence + 1}`
  server.github.clearRequests()
  const state = stateAt(lease.job.headSha)
  await server.on(lease, "result", resultOf(lease, { state, comment: commentOf(state, "late") }))
  expect(await settled(server)).toMatchObject({ state: "superseded", code: "publish_stale" })
  expect(server.botComments()).toEqual(good)
  expect([...requests(server, "PATCH"), ...requests(server, "GET")]).toEqual([])
})

// report B37
test("publishes a finished review although the head moved on or the pull request was closed, and names the head it reviewed", async () => {
  const server = await opened()
  const { headSha, baseSha } = server.change
  const lease = await server.lease()
  await server.github.pushHead(PULL, baseSha)
  await server.github.closePullRequest(PULL)
  await server.on(lease, "result", resultOf(lease))
  const ended = async () =>
    (await server.context.store.sql<[{ state: string }]>`select state from review_jobs where id = ${lease.job.id}`)[0].state
  expect(await until(ended, (state) => state !== "publishing")).toBe("succeeded")
  expect(server.botComments()[0]?.body).toContain(headSha)
  const pulls = () => server.context.store.sql<{ head: string; reviewed: string }[]>`
    select head_sha as head, last_reviewed_sha as reviewed from pull_requests`
  // What happens within one second is looked up at GitHub first.
  const [pull] = await until(pulls, ([known]) => known?.head === baseSha)
  expect(pull?.reviewed).toBe(headSha)
})

test("tries again by itself when GitHub is down, from the stored result", async () => {
  const server = await opened()
  const lease = await server.lease()
  server.github.addFault({ path: comments, effect: { kind: "status", status: 503 } })
  await server.on(lease, "result", resultOf(lease))
  expect(await settled(server)).toMatchObject({ state: "succeeded" })
  expect(server.botComments()).toHaveLength(1)
})

test("gives a publication up with its last fault when its task failed for good, so that its pull request can be reviewed again", async () => {
  const server = await opened()
  const lease = await server.lease()
  server.github.addFault({ path: comments, times: 500, effect: { kind: "status", status: 503 } })
  await server.on(lease, "result", resultOf(lease))
  const { store, workspaceId } = server.context
  await store.boss.send(taskQueues.publishComment, { workspaceId, jobId: lease.job.id }, { retryLimit: 0 })
  expect(await settled(server)).toMatchObject({ state: "failed", code: "github_unavailable" })
  server.github.clearFaults()
  await server.command()
  await server.review()
  expect(await server.job()).toMatchObject({ state: "succeeded" })
})

test("waits for another writer of the comment without counting it as a failure", async () => {
  const server = await opened()
  const lease = await server.lease()
  const { store } = server.context
  const writer = await store.sql.reserve()
  await writer`select pg_advisory_lock(hashtextextended(id::text, 0)) from pull_requests`
  await server.on(lease, "result", resultOf(lease))
  const tasks = () =>
    store.sql<{ state: string; retries: number }[]>`
      select state, retry_count as retries from pgboss.job where name = ${taskQueues.publishComment} order by created_on`
  await until(tasks, (all) => all.length > 1)
  await writer`select pg_advisory_unlock_all()`
  writer.release()
  expect(await settled(server)).toMatchObject({ state: "succeeded" })
  expect((await tasks()).every(({ retries }) => retries === 0)).toBe(true)
})
