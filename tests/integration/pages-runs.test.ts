import type { Coverage } from "@galley/contract/coverage"
import { noUsage } from "@galley/contract/usage"
import { type LiveRuns, openLiveRuns } from "@galley/server/pages/live-runs"
import { pageRoutes } from "@galley/server/pages/page-routes"
import { completeJob } from "@galley/store/queue/complete-job"
import { failJob } from "@galley/store/queue/fail-job"
import { heartbeat } from "@galley/store/queue/heartbeat"
import { Hono } from "hono"
import { expect, onTestFinished, test, vi } from "vitest"
import { finding } from "./finding-fixture.ts"
import { member, startPages } from "./pages-fixture.ts"
import { claimed, freshStore, makeDue, push, reviewed } from "./store-fixture.ts"

const hostile = "<script>alert('x')</script>"

// R-PAGE-3
test("shows text of engines and repositories as text, never as markup", async () => {
  const { server, tenant, owner } = await startPages()
  const { store } = server.context
  await push(store, tenant, 1, { snapshot: { title: hostile, author: hostile, headRef: hostile } })
  const lease = await claimed(store, tenant)
  const findings = [finding({ title: hostile, body: hostile, path: hostile, evidence: [hostile] })]
  const coverage: Coverage = {
    status: "partial",
    changedFiles: 1,
    reviewedFiles: 0,
    examinedPaths: [],
    omitted: { omissions: [{ path: hostile, reason: "binary", changed: true }], total: 1 },
    comparison: "none",
  }
  await completeJob(store, lease, reviewed(lease, { findings, comment: hostile, coverage }))

  const paths = [`${tenant.base}/runs/${lease.leaseId}`, `${tenant.base}/runs`, tenant.projectPath, `${tenant.projectPath}/pulls/1`]
  for (const path of paths) {
    const html = await (await owner.get(path)).text()
    expect([path, html.includes("<script>alert")]).toEqual([path, false])
  }
  const run = await (await owner.get(paths[0] ?? "")).text()
  expect(run.match(/&lt;script&gt;alert/g)?.length).toBeGreaterThanOrEqual(6)
})

test("says why a run failed, in words and by its code", async () => {
  const { server, tenant, owner } = await startPages()
  const { store } = server.context
  await push(store, tenant, 1)
  const lease = await claimed(store, tenant)
  await failJob(store, lease, { code: "model_unauthorized", detail: "401 from the provider", retryable: false, usage: noUsage })

  const html = await (await owner.get(`${tenant.base}/runs/${lease.leaseId}`)).text()

  expect(html).toContain("The model provider refused the key.")
  expect(html).toContain("<code>model_unauthorized</code>")
  expect(html).toContain("401 from the provider")
})

// R-PAGE-6
test("answers why there is no review with the deliveries' reasons, also for a pull request it never kept", async () => {
  const { server, tenant, owner } = await startPages()
  const { sql } = server.context.store
  await sql`
    insert into webhook_deliveries (host_id, delivery_id, event, action, workspace_id, project_id, pull_request_number, outcome, reason)
    values (${tenant.hostId}, gen_random_uuid(), 'pull_request', 'opened', ${tenant.workspaceId}, ${tenant.projectId}, 9, 'ignored', 'draft')`

  const draft = await (await owner.get(`${tenant.projectPath}/pulls/9`)).text()
  const unheard = await (await owner.get(`${tenant.projectPath}/pulls/10`)).text()

  expect(draft).toContain("The pull request is a draft, and this project does not review drafts.")
  expect(unheard).toContain("No event about this pull request has arrived.")
  expect((await owner.get(`${tenant.projectPath}/pulls?number=9`)).headers.get("location")).toBe(`${tenant.projectPath}/pulls/9`)
})

// R-PAGE-6, F16
test("says that no runner offers the kind once a job is due for a minute", async () => {
  const { server, tenant, owner } = await startPages({ reviewKind: "dynamic" })
  const { store } = server.context
  const { jobId } = await push(store, tenant, 1)
  await makeDue(store, jobId)
  expect(await (await owner.get(tenant.projectPath)).text()).not.toContain("No runner offers")

  await store.sql`update review_jobs set run_after = now() - interval '2 minutes'`
  for (const path of [tenant.projectPath, `${tenant.projectPath}/pulls/1`]) {
    expect(await (await owner.get(path)).text()).toContain("No runner offers Dynamic Review.")
  }
  const proof = [
    { kind: "dynamic", engineVersion: "1", boundary: "enforced", checkedAt: new Date(), expiresAt: new Date(Date.now() + 60_000) },
  ]
  await store.sql`
    update runners set last_seen_at = now(), capabilities = ${store.sql.json(proof as never)} where workspace_id = ${tenant.workspaceId}`
  expect(await (await owner.get(tenant.projectPath)).text()).not.toContain("No runner offers")
})

/** Reads a stream of events until `done` is true for the text so far. */
async function readUntil(reader: ReadableStreamDefaultReader<Uint8Array>, done: (text: string) => boolean): Promise<string> {
  const decoder = new TextDecoder()
  let text = ""
  while (!done(text)) {
    const { value, done: ended } = await reader.read()
    if (ended) return text
    text += decoder.decode(value, { stream: true })
  }
  return text
}

function readerOf(response: Response): ReadableStreamDefaultReader<Uint8Array> {
  if (response.body === null) throw new Error("the answer has no body")
  return response.body.getReader()
}

async function runningReview() {
  const pages = await startPages()
  await push(pages.server.context.store, pages.tenant, 1)
  const lease = await claimed(pages.server.context.store, pages.tenant)
  const proof = { ...lease, runnerId: pages.tenant.runnerId }
  return { ...pages, lease, proof, path: `${pages.tenant.base}/runs/${lease.leaseId}/events` }
}

// R-PAGE-5
test("streams a run's sections after each change and ends with the run", async () => {
  const { server, owner, lease, proof, path } = await runningReview()
  const { store } = server.context
  const answer = await owner.get(path)
  expect(answer.headers.get("content-type")).toBe("text/event-stream")
  const reader = readerOf(answer)
  expect(await readUntil(reader, (text) => text.includes("event: body"))).toContain("event: status")

  await heartbeat(store, proof, { phase: "reviewing", progress: "3 model calls", usage: { ...noUsage, modelCalls: 3 } })
  expect(await readUntil(reader, (text) => text.includes("3 of 30"))).toContain("Reviewing, 3 model calls")
  await failJob(store, lease, { code: "engine_crashed", detail: "", retryable: false, usage: noUsage })
  const rest = await readUntil(reader, () => false)

  expect(rest).toContain("engine_crashed")
  expect(rest).toContain("event: over")
})

// R-PAGE-5
test("ends a stream when its visitor is no longer a member", async () => {
  const { server, owner, tenant, proof, path } = await runningReview()
  const { store } = server.context
  const reader = readerOf(await owner.get(path))
  await readUntil(reader, (text) => text.includes("event: body"))

  await store.sql`delete from memberships where workspace_id = ${tenant.workspaceId}`
  await heartbeat(store, proof, { phase: "reviewing", progress: "a secret of the workspace", usage: noUsage })

  expect(await readUntil(reader, () => false)).not.toContain("a secret of the workspace")
})

// R-PAGE-5
test("ends all streams when the server stops", async () => {
  const { server, owner, path } = await runningReview()
  const readers = await Promise.all([owner, owner].map(async (visitor) => readerOf(await visitor.get(path))))
  for (const reader of readers) await readUntil(reader, (text) => text.includes("event: body"))

  await server.stopWaiting()

  for (const reader of readers) await readUntil(reader, () => false)
})

test("fills silence with comments, so that no proxy cuts the stream, and forgets a stream that was closed", async () => {
  const { server, tenant, lease } = await runningReview()
  const live = await openLiveRuns(server.context, { heartbeatMs: 20 })
  onTestFinished(() => live.close())
  const forgotten = vi.fn()
  const liveRuns: LiveRuns = {
    ...live,
    watch(runId, onChange) {
      const unwatch = live.watch(runId, onChange)
      return () => {
        unwatch()
        forgotten()
      }
    },
  }
  const viewer = await member(
    { ...server, app: new Hono().route("/", pageRoutes({ context: server.context, liveRuns })) },
    tenant,
    "viewer",
  )

  const reader = readerOf(await viewer.get(`${tenant.base}/runs/${lease.leaseId}/events`))

  await readUntil(reader, (text) => (text.match(/^: still here$/gm)?.length ?? 0) >= 2)
  expect(forgotten).not.toHaveBeenCalled()
  await reader.cancel()
  await vi.waitFor(() => expect(forgotten).toHaveBeenCalledTimes(1))
})

test("shares one LISTEN among all streams, wakes only those concerned and forgets closed ones", async () => {
  const store = await freshStore()
  const live = await openLiveRuns({ store })
  onTestFinished(() => live.close())
  const [concerned, other] = [vi.fn(), vi.fn()]
  const runId = crypto.randomUUID()
  const unwatch = live.watch(runId, concerned)
  live.watch(crypto.randomUUID(), other)

  store.runs.notify(`${crypto.randomUUID()}:${runId}`)
  await vi.waitFor(() => expect(concerned).toHaveBeenCalledTimes(1))
  unwatch()
  store.runs.notify(`${crypto.randomUUID()}:${runId}`)
  const marker = vi.fn()
  const last = crypto.randomUUID()
  live.watch(last, marker)
  await store.runs.idle()
  store.runs.notify(`${crypto.randomUUID()}:${last}`)
  await vi.waitFor(() => expect(marker).toHaveBeenCalled())

  expect(concerned).toHaveBeenCalledTimes(1)
  expect(other).not.toHaveBeenCalled()
  const listens = await store.sql`
    select from pg_stat_activity where datname = current_database() and query ilike 'listen%galley_runs%'`
  expect(listens).toHaveLength(1)
})
