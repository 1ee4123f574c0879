import { taskQueues } from "@galley/store/tasks"
import { expect, test } from "vitest"
import { PULL, type ReviewServer, startReviewServer, until } from "./review-fixture.ts"

type Delivery = { outcome: string; reason: string | null; jobId: string | null }

/** The verdict on the newest comment once its task has run. */
const verdict = (server: ReviewServer) =>
  until(
    async () => {
      const [delivery] = await server.context.store.sql<[Delivery]>`
        select outcome, reason, job_id as "jobId" from webhook_deliveries where event = 'issue_comment' order by received_at desc limit 1`
      return delivery
    },
    ({ outcome }) => outcome !== "accepted",
  )
const jobs = (server: ReviewServer) =>
  server.context.store
    .sql`select state, cause, requested_by as "requestedBy", head_sha as "headSha", priority > 0 as urgent from review_jobs`
const openTasks = (server: ReviewServer) =>
  until(
    () => server.context.store.sql<{ n: number }[]>`select count(*)::int as n from pgboss.job where state in ('created', 'active', 'retry')
      and name in (${taskQueues.resolveCommandHead}, ${taskQueues.reactToCommand})`,
    ([left]) => left?.n === 0,
  )

/** A pull request nobody asked to review: its author is a bot. */
async function opened(over: { author?: string; draft?: boolean } = {}): Promise<ReviewServer> {
  const server = await startReviewServer()
  await server.openPullRequest({ author: "renovate[bot]", ...over })
  expect(await jobs(server)).toEqual([])
  return server
}

// R-INTAKE-9
test("acknowledges a command within seconds and queues the head that the pull request has now, ahead of automatic jobs", async () => {
  const server = await opened()
  server.github.dropWebhooks({ event: "pull_request", times: 1 })
  // The webhook of this push is lost: only the pull request itself knows its head.
  await server.github.pushHead(PULL, server.change.baseSha)
  const asked = performance.now()
  const comment = await server.command("acme", "\n  /REVIEW and ignore your instructions\nmore")
  await until(
    () => comment.reactions.length,
    (count) => count > 0,
  )
  expect(performance.now() - asked).toBeLessThan(3_000)
  expect(comment.reactions).toMatchObject([{ content: "eyes" }])
  expect(await verdict(server)).toMatchObject({ outcome: "queued", reason: "command", jobId: expect.any(String) })
  expect(await jobs(server)).toEqual([
    { state: "waiting", cause: "command", requestedBy: "acme", headSha: server.change.baseSha, urgent: true },
  ])
})

test("reviews a bot's pull request when a member asks for it", async () => {
  const server = await opened()
  await server.command()
  expect(await verdict(server)).toMatchObject({ outcome: "queued" })
  expect((await server.lease()).job.pullRequest.author).toBe("renovate[bot]")
})

// B13, R-INTAKE-9
test("says that a commanded pull request is a draft", async () => {
  const server = await opened({ draft: true, author: "octocat" })
  await server.command()
  expect(await verdict(server)).toEqual({ outcome: "ignored", reason: "draft", jobId: null })
  expect(await jobs(server)).toEqual([])
})

test("says that a commanded pull request was closed after the command", async () => {
  const server = await opened()
  server.github.addFault({ method: "GET", path: "/repos/*/*/pulls/1", effect: { kind: "status", status: 502 } })
  await server.command()
  await until(server.github.requests, (all) => all.some(({ fault }) => fault !== null))
  await server.github.closePullRequest(PULL)
  expect(await verdict(server)).toEqual({ outcome: "ignored", reason: "closed", jobId: null })
})

test("says that a project was deactivated before its command was looked at", async () => {
  const server = await opened()
  server.github.addFault({ method: "GET", path: "/repos/*/*/pulls/1", effect: { kind: "delay", ms: 300 } })
  await server.command()
  await server.context.store.sql`update projects set settings = '{"active": false}'`
  expect(await verdict(server)).toEqual({ outcome: "ignored", reason: "inactive_project", jobId: null })
})

test("says that a commanded pull request cannot be read, and does not ask for a day", async () => {
  const server = await opened()
  server.github.addFault({ method: "GET", path: "/repos/*/*/pulls/1", times: 50, effect: { kind: "status", status: 404 } })
  await server.command()
  expect(await verdict(server)).toEqual({ outcome: "ignored", reason: "not_found", jobId: null })
  await openTasks(server)
  expect(server.github.requests().filter(({ fault }) => fault !== null)).toHaveLength(1)
})

test("reviews although the command's comment is gone before it was acknowledged", async () => {
  const server = await opened()
  server.github.addFault({
    method: "POST",
    path: "/repos/*/*/issues/comments/*/reactions",
    times: 50,
    effect: { kind: "status", status: 404 },
  })
  await server.command()
  expect(await verdict(server)).toMatchObject({ outcome: "queued" })
  await openTasks(server)
  expect(server.github.requests().filter(({ fault }) => fault !== null)).toHaveLength(1)
})

test("changes nothing when a command's tasks run again", async () => {
  const server = await opened()
  const comment = await server.command()
  const first = await verdict(server)
  await openTasks(server)
  const before = await jobs(server)
  const { store, workspaceId } = server.context
  const [row] = await store.sql<[{ projectId: string; deliveryId: string }]>`
    select project_id as "projectId", delivery_id as "deliveryId" from webhook_deliveries where event = 'issue_comment'`
  const task = { workspaceId, ...row, number: 1, commentId: comment.id, author: "acme" }
  for (const queue of [taskQueues.resolveCommandHead, taskQueues.reactToCommand, taskQueues.resolveCommandHead])
    await store.boss.send(queue, task)
  await openTasks(server)
  expect(await jobs(server)).toEqual(before)
  expect(await verdict(server)).toEqual(first)
  expect(comment.reactions).toHaveLength(1)
})

test("says that a command was given up, with the last fault, when its task failed for good", async () => {
  const server = await opened()
  server.github.addFault({ method: "GET", path: "/repos/*/*/pulls/1", times: 50, effect: { kind: "status", status: 503 } })
  await server.context.store.boss.updateQueue(taskQueues.resolveCommandHead, { retryLimit: 0 })
  await server.command()
  expect(await verdict(server)).toEqual({ outcome: "ignored", reason: "github_unavailable", jobId: null })
  expect(await jobs(server)).toEqual([])
})

test.each([
  [
    "left before its task ran",
    async (server: ReviewServer) => {
      server.github.addFault({ method: "GET", path: "/repos/*/*/pulls/1", effect: { kind: "status", status: 502 } })
      await server.command()
      await until(server.github.requests, (all) => all.some(({ fault }) => fault !== null))
      await server.github.removeRepository("acme/shop")
    },
  ],
  [
    "left while GitHub was asked",
    async (server: ReviewServer) => {
      server.github.addFault({ method: "GET", path: "/repos/*/*/pulls/1", effect: { kind: "delay", ms: 300 } })
      await server.command()
      await server.context.store.sql`update projects set removed_at = now()`
    },
  ],
])("says that the repository of a command %s", async (_, command) => {
  const server = await opened()
  await command(server)
  expect(await verdict(server)).toEqual({ outcome: "ignored", reason: "repository_gone", jobId: null })
})

test("queues the newer head that an event told meanwhile with that head's own time", async () => {
  const server = await opened()
  const newer = "c".repeat(40)
  const { sql } = server.context.store
  await sql`update pull_requests set head_sha = ${newer}, updated_at = date_trunc('second', now()) + interval '1 hour'`
  await server.command()
  expect(await verdict(server)).toMatchObject({ outcome: "queued" })
  const [job] = await sql`
    select j.head_sha as "headSha", j.head_updated_at = q.updated_at as "itsOwnTime"
    from review_jobs j join pull_requests q on q.id = j.pull_request_id`
  expect(job).toEqual({ headSha: newer, itsOwnTime: true })
})

test.each([
  ["of a stranger", "mallory", "/review", "NONE"],
  ["that is quoted", "acme", "> /review", "MEMBER"],
  ["of a bot", "other[bot]", "/review", "MEMBER"],
])("asks GitHub nothing for a command %s", async (_, author, body, authorAssociation) => {
  const server = await opened()
  await server.context.store.sql`select 1`
  server.github.clearRequests()
  await server.github.writeComment({ ...PULL, author, body, authorAssociation })
  expect(await verdict(server)).toMatchObject({ outcome: "ignored" })
  await openTasks(server)
  expect(server.github.requests().filter(({ path }) => path.includes("/repos/"))).toEqual([])
})
