import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { buffer } from "node:stream/consumers"
import { setTimeout as delay } from "node:timers/promises"
import type { FindingState } from "@galley/contract/finding"
import { LEASE_TOKEN_HEADER, Lease, type LeaseRequest, type LeaseResult } from "@galley/contract/protocol"
import { noUsage } from "@galley/contract/usage"
import { MARKER, stateBlock } from "@galley/findings/comment-state"
import { taskQueues } from "@galley/store/tasks"
import { onTestFinished } from "vitest"
import { makeSampleRepository, type SampleChange } from "../../scripts/demo/sample-repository.ts"
import { startTestServer, type TestServer, type TestServerOptions, WEBHOOK_SECRET } from "./server-fixture.ts"

export const REPO = "acme/shop"
export const BOT = "galley-review[bot]"
export const PULL = { repo: REPO, number: 1 }

/** A server whose webhooks come from the fake GitHub, with an active project and what a runner does with it. */
export type ReviewServer = TestServer &
  Readonly<{
    change: SampleChange
    openPullRequest(over?: { author?: string; draft?: boolean }): Promise<void>
    /** One poll for a lease; null for 204. */
    poll(over?: Partial<LeaseRequest>): Promise<Lease | null>
    /** A lease that must come. */
    lease(): Promise<Lease>
    /** A verb on a lease. */
    on(lease: Lease, verb: string, body?: unknown, headers?: Record<string, string>): Promise<Response>
    /** Queues, leases and hands over a review; returns the lease once its publication is settled. */
    review(text?: string): Promise<Lease>
    job(): Promise<{
      id: string
      state: string
      code: string | null
      detail: string | null
      headSha: string
      failures: number
      waitMs: number
    }>
    /** Queues a review of pull request 1 by a person's comment. */
    command(author?: string, body?: string): Promise<{ id: number; reactions: readonly { content: string }[] }>
    botComments(): { id: number; body: string }[]
  }>

/** A repository of the sample change on a disk of its own, removed with the test. */
export function sampleChange(): SampleChange {
  const directory = mkdtempSync(join(tmpdir(), "galley-review-"))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return makeSampleRepository(join(directory, "repository"))
}

const UNTIL_MS = 25_000

/** Reads until the value holds; tells the last one when that takes longer than a test may. */
export async function until<T>(read: () => Promise<T> | T, holds: (value: T) => boolean): Promise<T> {
  const deadline = performance.now() + UNTIL_MS
  for (;;) {
    const value = await read()
    if (holds(value)) return value
    if (performance.now() > deadline) throw new Error(`still not so after ${UNTIL_MS} ms: ${JSON.stringify(value)}`)
    await delay(10)
  }
}

/** Waits until the look at GitHub's list at the start is over: it would undo or forestall what a test does to an installation. */
export async function syncedAtStart({ context }: Pick<ReviewServer, "context">): Promise<void> {
  await until(
    () => context.store.boss.findJobs(taskQueues.syncInstallation, {}),
    (tasks) => tasks.length > 0 && tasks.every(({ state }) => state === "completed"),
  )
}

export function leaseRequest(over: Partial<LeaseRequest> = {}): LeaseRequest {
  const capability = { engineVersion: "1", boundary: "enforced" as const, checkedAt: new Date().toISOString() }
  const expiresAt = new Date(Date.now() + 60_000).toISOString()
  return {
    requestId: randomUUID(),
    runnerName: "test",
    runnerVersion: "0.1.0",
    capabilities: (["diff", "dynamic"] as const).map((kind) => ({ ...capability, kind, expiresAt })),
    freeSlots: 1,
    waitMs: 5_000,
    ...over,
  }
}

/** A state as a run at this head leaves it, with one finding. */
export function stateAt(headSha: string, body = "a finding"): FindingState {
  const record = { finding_id: "f1", state: "ACTIVE" as const, body, path: "src/basket.ts", line_start: 1, last_seen_head_sha: headSha }
  return { schema_version: 1, findings: [record], last_run: { head_sha: headSha, complete: true, kind: "full" } }
}

export const commentOf = (state: FindingState, text = "one finding") => `## Galley\n\n${MARKER}\n\n${text}\n\n${stateBlock(state)}`

export function resultOf(lease: Lease, over: Partial<Extract<LeaseResult, { outcome: "reviewed" }>> = {}): LeaseResult {
  const state = over.state ?? stateAt(lease.job.headSha)
  return {
    outcome: "reviewed",
    fence: lease.fence,
    reviewedSha: lease.job.headSha,
    state,
    findings: [],
    coverage: {
      status: "complete",
      changedFiles: 2,
      reviewedFiles: 2,
      examinedPaths: ["src/basket.ts"],
      omitted: { omissions: [], total: 0 },
      comparison: "none",
    },
    usage: { ...noUsage, modelCalls: 1 },
    trace: { engine: { name: "test", version: "1" }, steps: [], droppedFindings: [] },
    comment: commentOf(state),
    ...over,
  }
}

export async function startReviewServer(environment: Record<string, string> = {}, options: TestServerOptions = {}): Promise<ReviewServer> {
  const server = await startTestServer(environment, options)
  const { github } = server
  const { sql } = server.context.store
  const change = sampleChange()
  github.setWebhook({ url: await listen(server), secret: WEBHOOK_SECRET })
  await github.registerRepository({ owner: "acme", name: "shop", gitDirectory: change.gitDirectory, installationId: 7 })
  await sql`update projects set settings = '{"active": true, "debounceSeconds": 0}'`

  const poll = async (over: Partial<LeaseRequest> = {}) => {
    const answer = await server.runner("/leases", leaseRequest(over))
    if (answer.status === 204) return null
    if (answer.status !== 200) throw new Error(`no lease: ${answer.status} ${await answer.text()}`)
    return Lease.parse(await answer.json())
  }
  const lease = async () => {
    const leased = await poll()
    if (leased === null) throw new Error("nothing to lease")
    return leased
  }
  const on: ReviewServer["on"] = (leased, verb, body = {}, headers = {}) =>
    server.runner(`/leases/${leased.leaseId}/${verb}`, body, { [LEASE_TOKEN_HEADER]: leased.leaseToken, ...headers })
  const job: ReviewServer["job"] = async () => {
    const [newest] = await sql<[Awaited<ReturnType<ReviewServer["job"]>>]>`
      select id, state, code, detail, head_sha as "headSha", failures,
        (extract(epoch from run_after - clock_timestamp()) * 1000)::float8 as "waitMs"
      from review_jobs order by created_at desc, id desc limit 1`
    return newest
  }

  return {
    ...server,
    change,
    poll,
    lease,
    on,
    job,
    async openPullRequest(over = {}) {
      const { baseSha, headSha } = change
      await github.openPullRequest({ ...PULL, baseSha, headRef: "discounts", headSha, ...over })
    },
    async review(text) {
      const leased = await lease()
      const state = stateAt(leased.job.headSha)
      const answer = await on(leased, "result", resultOf(leased, { state, comment: commentOf(state, text) }))
      if (answer.status !== 200) throw new Error(`result refused: ${answer.status} ${await answer.text()}`)
      await until(job, ({ state: reached }) => reached !== "publishing")
      return leased
    },
    command: (author = "acme", body = "/review") => github.writeComment({ ...PULL, author, body, authorAssociation: "MEMBER" }),
    botComments: () =>
      github
        .comments(PULL)
        .filter(({ author }) => author.login === BOT)
        .map(({ id, body }) => ({ id, body })),
  }
}

/** The server's webhook address for the fake. */
async function listen({ app }: TestServer): Promise<string> {
  const listener = createServer(async (incoming, outgoing) => {
    const headers = Object.entries(incoming.headers).map(([name, value]): [string, string] => [name, String(value)])
    const answer = await app.request(incoming.url ?? "/", { method: "POST", headers, body: new Uint8Array(await buffer(incoming)) })
    outgoing.writeHead(answer.status).end(await answer.text())
  })
  listener.listen(0, "127.0.0.1")
  await once(listener, "listening")
  onTestFinished(() => {
    listener.closeAllConnections()
    listener.close()
  })
  const address = listener.address()
  if (address === null || typeof address === "string") throw new Error("the listener has no port")
  return `http://127.0.0.1:${address.port}/webhooks/github`
}
