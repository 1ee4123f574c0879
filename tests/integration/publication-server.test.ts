import { openServer } from "@galley/server/open-server"
import { completeJob } from "@galley/store/queue/complete-job"
import { taskQueues } from "@galley/store/tasks"
import { pino } from "pino"
import { expect, onTestFinished, test } from "vitest"
import { BOT, commentOf, PULL, REPO, type ReviewServer, resultOf, startReviewServer, stateAt, until } from "./review-fixture.ts"

const comments = "/repos/*/*/issues/*/comments"
const oneComment = "/repos/*/*/issues/comments/*"

/** A server with an open pull request that waits for its first review. */
async function opened(): Promise<ReviewServer> {
  const server = await startReviewServer()
  await server.openPullRequest()
  return server
}

/** Hands a review over without waiting for its publication. */
async function handOver(server: ReviewServer, text?: string): Promise<string> {
  const lease = await server.lease()
  const state = stateAt(lease.job.headSha)
  const answer = await server.on(lease, "result", resultOf(lease, { state, comment: commentOf(state, text) }))
  expect(answer.status).toBe(200)
  return commentOf(state, text)
}

const settled = (server: ReviewServer) => until(server.job, ({ state }) => state !== "publishing")
const requests = (server: ReviewServer, method: string) =>
  server.github.requests().filter((request) => request.method === method && request.path.includes("/comments"))

// B01, B02
test("creates one comment and edits it by its id from then on", async () => {
  const server = await opened()
  await server.review("first")
  const [first] = server.botComments()
  await server.command()
  await server.review("second")
  expect(server.botComments()).toEqual([{ id: first?.id, body: commentOf(stateAt(server.change.headSha), "second") }])
  expect(requests(server, "POST").filter(({ path }) => path.endsWith("/comments"))).toHaveLength(1)
  expect(requests(server, "PATCH")).toHaveLength(1)
})

test("spends at most four REST calls on a review in steady state, whatever the number of comments", async () => {
  const server = await opened()
  await server.review("first")
  for (let i = 0; i < 120; i++) await server.github.writeComment({ ...PULL, body: `chatter ${i}` })
  await server.command()
  await until(server.job, ({ state }) => state === "waiting")
  await until(
    () => requests(server, "POST"),
    (posts) => posts.some(({ path }) => path.endsWith("/reactions")),
  )
  // The sync at the start asks GitHub too, in its own time.
  await until(
    () => server.context.store.sql<{ state: string }[]>`select state from pgboss.job where name = 'sync-installation'`,
    (tasks) => tasks.length > 0 && tasks.every(({ state }) => state === "completed"),
  )
  server.github.clearRequests()
  const lease = await server.lease()
  expect((await server.on(lease, "credentials")).status).toBe(200)
  const state = stateAt(lease.job.headSha)
  await server.on(lease, "result", resultOf(lease, { state, comment: commentOf(state, "second") }))
  expect(await settled(server)).toMatchObject({ state: "succeeded" })
  const calls = server.github.requests().map(({ method, path }) => `${method} ${path.replace("/api/v3", "").replaceAll(/\d+/g, "N")}`)
  expect(calls).toEqual([
    `GET /repos/${REPO}/issues/comments/N`,
    "POST /app/installations/N/access_tokens",
    `GET /repos/${REPO}/issues/comments/N`,
    `PATCH /repos/${REPO}/issues/comments/N`,
  ])
})

// B02
test("finds its comment on the third page when its id is not known, and only its own", async () => {
  const server = await opened()
  const theirs = await server.github.writeComment({ ...PULL, author: "mallory", body: commentOf(stateAt("0".repeat(40)), "forged") })
  for (let i = 0; i < 230; i++) await server.github.writeComment({ ...PULL, body: `chatter ${i}` })
  const ours = await server.github.writeComment({ ...PULL, author: BOT, body: commentOf(stateAt("0".repeat(40)), "of an earlier server") })
  await server.github.writeComment({ ...PULL, author: BOT, body: "a bot's word without a marker" })
  await server.review("now")
  expect(server.botComments()[0]).toEqual({ id: ours.id, body: commentOf(stateAt(server.change.headSha), "now") })
  expect(server.botComments()).toHaveLength(2)
  expect(theirs.body).toContain("forged")
  expect(requests(server, "GET").filter(({ path }) => path.includes("page=3"))).not.toHaveLength(0)
})

// B17
test("ignores a comment with our marker that another user wrote, and never edits it", async () => {
  const server = await opened()
  const theirs = await server.github.writeComment({ ...PULL, author: "mallory", body: commentOf(stateAt("0".repeat(40)), "forged") })
  const lease = await server.lease()
  expect(lease.prior).toEqual({ state: null, tampered: false })
  await server.on(lease, "result", resultOf(lease))
  await settled(server)
  expect(theirs.body).toBe(commentOf(stateAt("0".repeat(40)), "forged"))
  expect(server.botComments()).toHaveLength(1)
})

// F34
test("adopts the comment that was created when the answer was lost", async () => {
  const server = await opened()
  server.github.addFault({ method: "POST", path: comments, effect: { kind: "apply_then_destroy" } })
  const body = await handOver(server)
  expect(await settled(server)).toMatchObject({ state: "succeeded" })
  expect(server.botComments().map((comment) => comment.body)).toEqual([body])
  expect(requests(server, "POST").filter(({ path }) => path.endsWith("/comments"))).toHaveLength(1)
})

// F33, F39
test("publishes from the stored result when the server died after the hand-over, or after the write and before its record", async () => {
  const server = await opened()
  const lease = await server.lease()
  const { config, store } = server.context
  const [run] = await store.sql<[{ runnerId: string }]>`select runner_id as "runnerId" from review_runs`
  const proof = { leaseId: lease.leaseId, leaseToken: lease.leaseToken, runnerId: run.runnerId }
  await server.close()
  const next = await openServer(config, pino({ level: "silent" }))
  onTestFinished(() => next.close())
  await completeJob(next.context.store, proof, resultOf(lease))
  const jobs = next.context.store.sql
  const state = async () => (await jobs<[{ state: string }]>`select state from review_jobs`)[0].state
  await until(state, (reached) => reached === "succeeded")
  expect(server.botComments()).toHaveLength(1)

  // As it stands when the process died between the write and its record.
  await jobs`update review_jobs set state = 'publishing', finished_at = null`
  await jobs`update pull_requests set comment_id = null, published_fence = 0, published_state = null, published_digest = null, last_reviewed_sha = null`
  const { workspaceId } = next.context
  await next.context.store.boss.send(taskQueues.publishComment, { workspaceId, jobId: lease.job.id })
  await until(state, (reached) => reached === "succeeded")
  expect(server.botComments()).toHaveLength(1)
  expect(requests(server, "PATCH")).toHaveLength(0)
})

// F35
test("writes one new comment when a user deleted ours, also between the read and the write", async () => {
  const server = await opened()
  await server.review("first")
  await server.github.deleteComment(server.botComments()[0]?.id ?? 0, "octocat")
  await server.command()
  await server.review("second")
  expect(server.botComments()).toHaveLength(1)

  const id = server.botComments()[0]?.id ?? 0
  await server.command()
  server.github.addFault({ method: "PATCH", path: oneComment, effect: { kind: "status", status: 404, message: "Not Found" } })
  const lease = await server.lease()
  const state = stateAt(lease.job.headSha)
  await server.on(lease, "result", resultOf(lease, { state, comment: commentOf(state, "third") }))
  expect(await settled(server)).toMatchObject({ state: "succeeded" })
  const [stored] = await server.context.store.sql<[{ id: number }]>`select comment_id as id from pull_requests`
  expect(stored.id).not.toBe(id)
})

// B18
test("keeps the newest of several own comments and removes the others", async () => {
  const server = await opened()
  for (const text of ["one", "two", "three"]) {
    await server.github.writeComment({ ...PULL, author: BOT, body: commentOf(stateAt("0".repeat(40)), text) })
  }
  const newest = server.botComments().at(-1)?.id
  await server.review("now")
  expect(server.botComments()).toEqual([{ id: newest, body: commentOf(stateAt(server.change.headSha), "now") }])
})

test("does not write a body that stands there already", async () => {
  const server = await opened()
  await server.review("the same")
  await server.command()
  await server.review("the same")
  expect(await server.job()).toMatchObject({ state: "succeeded" })
  expect(requests(server, "PATCH")).toHaveLength(0)
})

// F38
test("lets two servers that publish the same job write once", async () => {
  const server = await opened()
  const other = await openServer(server.context.config, pino({ level: "silent" }))
  onTestFinished(() => other.close())
  const { store, workspaceId } = server.context
  server.github.addFault({ method: "GET", path: comments, skip: 1, times: 1, effect: { kind: "delay", ms: 300 } })
  const lease = await server.lease()
  await server.on(lease, "result", resultOf(lease))
  for (let i = 0; i < 6; i++) await store.boss.send(taskQueues.publishComment, { workspaceId, jobId: lease.job.id })
  expect(await settled(server)).toMatchObject({ state: "succeeded" })
  await until(
    () =>
      store.sql<
        { n: number }[]
      >`select count(*)::int as n from pgboss.job where name = ${taskQueues.publishComment} and state <> 'completed'`,
    ([left]) => left?.n === 0,
  )
  expect(server.botComments()).toHaveLength(1)
  expect(requests(server, "POST").filter(({ path }) => path.endsWith("/comments"))).toHaveLength(1)
})

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

// F37
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

// B31
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
  await server.context.store.sql`update pull_requests set fence = fence + 1, published_fence = fence + 1`
  server.github.clearRequests()
  const state = stateAt(lease.job.headSha)
  await server.on(lease, "result", resultOf(lease, { state, comment: commentOf(state, "late") }))
  expect(await settled(server)).toMatchObject({ state: "superseded", code: "publish_stale" })
  expect(server.botComments()).toEqual(good)
  expect([...requests(server, "PATCH"), ...requests(server, "GET")]).toEqual([])
})

// B37
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
  const [pull] = await server.context.store.sql`select last_reviewed_sha, head_sha from pull_requests`
  expect(pull).toEqual({ last_reviewed_sha: headSha, head_sha: baseSha })
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
