import { openServer } from "@galley/server/open-server"
import { completeJob } from "@galley/store/queue/complete-job"
import { taskQueues } from "@galley/store/tasks"
import { pino } from "pino"
import { expect, onTestFinished, test } from "vitest"
import { comments, handOver, oneComment, opened, requests, settled } from "./publication-fixture.ts"
import { BOT, commentOf, PULL, REPO, resultOf, stateAt, syncedAtStart, until } from "./review-fixture.ts"

// report B01, report B02, R-COMMENT-3
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

// R-COMMENT-8
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
  await syncedAtStart(server)
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

// report B02, R-COMMENT-3
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

// F34, R-COMMENT-6
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

// B18, R-COMMENT-6
test("keeps the newest of several own comments and removes the others", async () => {
  const server = await opened()
  for (const text of ["one", "two", "three"]) {
    await server.github.writeComment({ ...PULL, author: BOT, body: commentOf(stateAt("0".repeat(40)), text) })
  }
  const newest = server.botComments().at(-1)?.id
  await server.review("now")
  expect(server.botComments()).toEqual([{ id: newest, body: commentOf(stateAt(server.change.headSha), "now") }])
})

// R-COMMENT-6
test("does not write a body that stands there already", async () => {
  const server = await opened()
  await server.review("the same")
  await server.command()
  await server.review("the same")
  expect(await server.job()).toMatchObject({ state: "succeeded" })
  expect(requests(server, "PATCH")).toHaveLength(0)
})

// F38, R-COMMENT-4
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
