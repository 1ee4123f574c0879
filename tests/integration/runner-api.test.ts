import { randomUUID } from "node:crypto"
import { Credentials, LEASE_TOKEN_HEADER, Lease, RUNNER_PROTOCOL_PATH } from "@galley/contract/protocol"
import { noUsage } from "@galley/contract/usage"
import { registerRunner } from "@galley/store/runners/register-runner"
import { expect, test } from "vitest"
import { leaseRequest, REPO, type ReviewServer, resultOf, startReviewServer, stateAt, until } from "./review-fixture.ts"
import { RUNNER_TOKEN } from "./server-fixture.ts"
import { runOut } from "./store-fixture.ts"

const codeOf = async (answer: Response) => ({
  status: answer.status,
  ...((await answer.json()) as { error: { code: string; field?: string } }).error,
})
const beat = { phase: "reviewing", progress: "1 model call", usage: noUsage }
const failure = (lease: Lease, over = {}) => ({
  fence: lease.fence,
  code: "engine_crashed",
  detail: "",
  retryable: true,
  usage: noUsage,
  ...over,
})
const verbs = ["credentials", "heartbeat", "result", "failure", "release"] as const
const bodyOf = (verb: (typeof verbs)[number], lease: Lease) =>
  verb === "heartbeat" ? beat : verb === "result" ? resultOf(lease) : verb === "failure" ? failure(lease) : {}

async function leased(environment: Record<string, string> = {}): Promise<{ server: ReviewServer; lease: Lease }> {
  const server = await startReviewServer(environment)
  await server.openPullRequest()
  return { server, lease: await server.lease() }
}

// B48
test.each([
  ["no token", undefined],
  ["a wrong token", "Bearer another-runners-token-long-enough"],
  ["a token of another scheme", `Basic ${RUNNER_TOKEN}`],
])("refuses %s on every address of the protocol, without a hint", async (_, authorization) => {
  const server = await startReviewServer()
  for (const path of ["/leases", ...verbs.map((verb) => `/leases/${randomUUID()}/${verb}`)]) {
    const answer = await server.app.request(`${RUNNER_PROTOCOL_PATH}${path}`, {
      method: "POST",
      body: "{}",
      headers: authorization === undefined ? {} : { authorization },
    })
    expect(await codeOf(answer)).toEqual({ status: 401, code: "runner_unauthorized", message: "unknown runner token" })
  }
})

test("refuses a paused runner", async () => {
  const server = await startReviewServer()
  await server.context.store.sql`update runners set paused = true`
  expect(await codeOf(await server.runner("/leases", leaseRequest()))).toMatchObject({ status: 403, code: "runner_paused" })
})

test("refuses a runner that is too old", async () => {
  const server = await startReviewServer()
  const answer = await server.runner("/leases", leaseRequest({ runnerVersion: "0.0.1" }))
  expect(await codeOf(answer)).toMatchObject({ status: 426, code: "runner_too_old" })
})

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

test("gives a lease everything but secrets: the job, effective settings, limits and no earlier state", async () => {
  const { server, lease } = await leased()
  const { baseSha, headSha } = server.change
  expect(lease).toMatchObject({
    fence: 1,
    attempt: 1,
    job: { kind: "diff", headSha, baseSha, previousHeadSha: null, pullRequest: { owner: "acme", repository: "shop", number: 1 } },
    settings: { skill: null, maxFindings: 10 },
    prior: { state: null, tampered: false },
    botLogin: "galley-review[bot]",
  })
  expect(lease.job.pullRequest.gitUrl).toBe(`${server.github.url}/${REPO}.git`)
  expect(JSON.stringify(lease)).not.toContain("model key")
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

// F12
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

test("gives credentials that can only read the contents of the one repository", async () => {
  const { server, lease } = await leased()
  const credentials = Credentials.parse(await (await server.on(lease, "credentials")).json())
  const minted = server.github.state.installationTokens.get(credentials.githubToken)
  expect(minted?.permissions).toEqual({ contents: "read", metadata: "read" })
  expect([...(minted?.repositoryIds ?? [])]).toHaveLength(1)
  expect(credentials.model).toMatchObject({ baseUrl: "http://127.0.0.1:9/v1", apiKey: "model key", upstreamModel: "some-model" })
  // Everything the server itself did needed no more than pull requests of the one repository.
  for (const { caller } of server.github.requests()) expect(caller.permissions?.contents ?? "none").toBe("none")
})

test("ends a job whose model no provider of the workspace has", async () => {
  const { server, lease } = await leased()
  await server.context.store.sql`delete from model_providers`
  expect(await codeOf(await server.on(lease, "credentials"))).toMatchObject({ status: 422, code: "model_not_configured" })
})

test("never reviews with a model the workspace did not choose", async () => {
  const server = await startReviewServer()
  await server.context.store.sql`delete from model_providers`
  await server.openPullRequest()
  expect(await server.poll()).toBeNull()
  expect(await server.job()).toMatchObject({ state: "failed", code: "model_not_configured" })
})

// B49, F19
test.each(verbs)("refuses %s with a lease token that is wrong, missing, run out or another workspace's", async (verb) => {
  const { server, lease } = await leased()
  const { store } = server.context
  const lost = { status: 409, code: "lease_lost" }
  const send = (headers: Record<string, string>) => server.on(lease, verb, bodyOf(verb, lease), headers)
  expect(await codeOf(await send({ [LEASE_TOKEN_HEADER]: "x".repeat(43) }))).toMatchObject(lost)
  expect(await codeOf(await send({ [LEASE_TOKEN_HEADER]: "" }))).toMatchObject(lost)
  expect(await codeOf(await server.on({ ...lease, leaseId: randomUUID() }, verb, bodyOf(verb, lease)))).toMatchObject(lost)
  for (const leaseId of ["1' or true", "-".repeat(36)]) {
    expect(await codeOf(await server.on({ ...lease, leaseId }, verb, bodyOf(verb, lease)))).toMatchObject(lost)
  }
  const stranger = await registerRunner(store, { workspaceId: null, name: "stranger", actor: "test" })
  expect(await codeOf(await send({ authorization: `Bearer ${stranger.token}` }))).toMatchObject(lost)
  await runOut(store, lease.leaseId)
  expect(await codeOf(await send({}))).toMatchObject(lost)
})

test("gives a runner of another workspace no job", async () => {
  const server = await startReviewServer()
  const { store } = server.context
  const [other] = await store.sql<[{ id: string }]>`
    insert into workspaces (id, slug, name) values (gen_random_uuid(), 'other', 'Other') returning id`
  const { token } = await registerRunner(store, { workspaceId: other.id, name: "theirs", actor: "test" })
  await server.openPullRequest()
  const answer = await server.runner("/leases", leaseRequest({ waitMs: 100 }), { authorization: `Bearer ${token}` })
  expect(answer.status).toBe(204)
})

test("gives no job to a runner whose proof ran out or that proved another kind", async () => {
  const server = await startReviewServer()
  await server.openPullRequest()
  const [diff, dynamic] = leaseRequest().capabilities
  if (diff === undefined || dynamic === undefined) throw new Error("two kinds were proved")
  expect(await server.poll({ waitMs: 100, capabilities: [{ ...diff, expiresAt: "2026-01-01T00:00:00Z" }] })).toBeNull()
  expect(await server.poll({ waitMs: 100, capabilities: [dynamic] })).toBeNull()
})

test("tells a runner with its heartbeat to go on, to stop, or that a newer head waits", async () => {
  const { server, lease } = await leased()
  const action = async (usage = noUsage) =>
    ((await (await server.on(lease, "heartbeat", { ...beat, usage })).json()) as { action: string }).action
  expect(await action()).toBe("continue")
  await server.github.pushHead({ repo: REPO, number: 1 }, server.change.baseSha)
  expect(await action()).toBe("superseded")
  // What was paid for is finished.
  expect(await action({ ...noUsage, modelCalls: 1 })).toBe("continue")
  await server.github.closePullRequest({ repo: REPO, number: 1 })
  expect(await action()).toBe("cancel")
})

test("keeps a result once, whatever arrives again, and refuses another one", async () => {
  const { server, lease } = await leased()
  const result = resultOf(lease)
  for (const _ of [1, 2]) expect((await server.on(lease, "result", result)).status).toBe(200)
  await until(server.job, ({ state }) => state === "succeeded")
  expect((await server.on(lease, "result", result)).status).toBe(200)
  const other = resultOf(lease, { usage: { ...noUsage, modelCalls: 2 } })
  expect(await codeOf(await server.on(lease, "result", other))).toMatchObject({ status: 409, code: "result_conflict" })
  expect(server.botComments()).toHaveLength(1)
})

const otherSha = "9".repeat(40)
const unfit: [string, (lease: Lease) => object, string, string | undefined][] = [
  ["another head", (lease) => resultOf(lease, { reviewedSha: otherSha }), "head_sha_mismatch", "reviewedSha"],
  ["a state of another head", (lease) => resultOf(lease, { state: stateAt(otherSha) }), "head_sha_mismatch", "state.last_run.head_sha"],
  ["another fence", (lease) => resultOf(lease, { fence: lease.fence + 1 }), "request_invalid", "fence"],
  [
    "a comment with another state",
    (lease) => ({ ...resultOf(lease), state: stateAt(lease.job.headSha, "reworded") }),
    "comment_invalid",
    undefined,
  ],
  ["a comment without a state", (lease) => resultOf(lease, { comment: "no state" }), "comment_invalid", undefined],
  ["a comment with a broken state", (lease) => resultOf(lease, { comment: `${resultOf(lease).outcome}` }), "comment_invalid", undefined],
  ["a comment over GitHub's limit", (lease) => resultOf(lease, { comment: "x".repeat(65_001) }), "comment_too_large", undefined],
  ["a comment over GitHub's limit in bytes", (lease) => resultOf(lease, { comment: "é".repeat(40_000) }), "comment_too_large", undefined],
  ["an unknown field", (lease) => ({ ...resultOf(lease), extra: 1 }), "request_invalid", "extra"],
  ["an unknown field deep inside", (lease) => ({ ...resultOf(lease), usage: { ...noUsage, tips: 1 } }), "request_invalid", "usage.tips"],
  [
    "a wrong type",
    (lease) => ({ ...resultOf(lease), coverage: { ...Object(Reflect.get(resultOf(lease), "coverage")), status: 1 } }),
    "request_invalid",
    "coverage.status",
  ],
  [
    "a NUL, which the database cannot store",
    (lease) => ({ ...resultOf(lease), trace: { engine: { name: "a\0b", version: "1" }, steps: [], droppedFindings: [] } }),
    "request_invalid",
    "name",
  ],
  [
    "half a surrogate pair",
    (lease) => ({ ...resultOf(lease), trace: { engine: { name: "\ud83d", version: "1" }, steps: [], droppedFindings: [] } }),
    "request_invalid",
    "name",
  ],
]

test.each(unfit)("refuses a result with %s before anything is stored", async (_, bodyFor, code, field) => {
  const { server, lease } = await leased()
  const answer = await codeOf(await server.on(lease, "result", bodyFor(lease)))
  expect(answer).toMatchObject({ status: 422, code, ...(field === undefined ? {} : { field }) })
  expect(await server.context.store.sql`select 1 from review_results`).toHaveLength(0)
  expect((await server.on(lease, "result", resultOf(lease))).status).toBe(200)
})

// B51
test("refuses a body over 1 MiB, whether or not its length is declared", async () => {
  const { server, lease } = await leased()
  const body = JSON.stringify({ ...resultOf(lease), comment: "x".repeat(1024 * 1024) })
  const headers = { authorization: `Bearer ${RUNNER_TOKEN}`, [LEASE_TOKEN_HEADER]: lease.leaseToken }
  const path = `${RUNNER_PROTOCOL_PATH}/leases/${lease.leaseId}/result`
  const declared = await server.app.request(path, { method: "POST", body, headers: { ...headers, "content-length": String(body.length) } })
  expect(await codeOf(declared)).toMatchObject({ status: 413, code: "result_too_large" })
  expect(declared.headers.get("connection")).toBe("close")
  const chunked = await server.app.request(path, {
    method: "POST",
    body: new Blob([body]).stream(),
    duplex: "half",
    headers,
  } as RequestInit)
  expect(await codeOf(chunked)).toMatchObject({ status: 413, code: "result_too_large" })
})

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
    current = await server.lease()
    expect(current).toMatchObject({ attempt: failures + 1, fence: failures + 1 })
  }
  await server.on(current, "failure", failure(current))
  expect(await server.job()).toMatchObject({ state: "failed", code: "attempts_exhausted", failures: 3 })
})

test("ends a job at once after a failure that would come again", async () => {
  const { server, lease } = await leased()
  await server.on(lease, "failure", failure(lease, { code: "input_too_large", retryable: false }))
  expect(await server.job()).toMatchObject({ state: "failed", code: "input_too_large" })
})

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

test("takes a job back from a runner that drains, without counting an attempt", async () => {
  const { server, lease } = await leased()
  expect((await server.on(lease, "release")).status).toBe(200)
  expect(await server.lease()).toMatchObject({ job: { id: lease.job.id }, fence: 2 })
  expect(await server.job()).toMatchObject({ failures: 0 })
})

// B28, F11, F19
test("refuses the result of a runner that lost its lease, and accepts its successor's", async () => {
  const { server, lease } = await leased()
  const { store } = server.context
  await runOut(store, lease.leaseId)
  await until(server.job, ({ state }) => state === "waiting")
  await store.sql`update review_jobs set run_after = now()`
  const successor = await server.lease()
  expect(successor.fence).toBe(lease.fence + 1)
  expect(await codeOf(await server.on(lease, "result", resultOf(lease)))).toMatchObject({ status: 409, code: "lease_lost" })
  expect((await server.on(successor, "result", resultOf(successor))).status).toBe(200)
})

// B19
test.each([
  ["another state", (body: string) => body.replace("a finding", "no finding")],
  ["no state", () => "gone"],
  ["a broken state", (body: string) => body.replace('{"findings"', '{"findings')],
])("restores the published state when somebody edited the comment to %s, and says so", async (_, edit) => {
  const server = await startReviewServer()
  await server.openPullRequest()
  await server.review()
  const [comment] = server.botComments()
  await server.github.editComment(comment?.id ?? 0, edit(comment?.body ?? ""), "mallory")
  await server.command()
  const lease = await server.lease()
  expect(lease.prior).toEqual({ state: stateAt(server.change.headSha), tampered: true })
})

test("gives the published state, undisturbed, with the next lease", async () => {
  const server = await startReviewServer()
  await server.openPullRequest()
  await server.review()
  await server.command()
  const lease = await server.lease()
  expect(lease.prior).toEqual({ state: stateAt(server.change.headSha), tampered: false })
  expect(lease.job.previousHeadSha).toBe(server.change.headSha)
})

// B16
test("fails a job whose earlier state nobody here published and nobody can read, and leaves the comment alone", async () => {
  const server = await startReviewServer()
  await server.openPullRequest()
  const body = "## Galley\n\n<!-- pr-agent:review:full -->\n\n<!-- pr-agent-review-state:v9\n{}\n-->\n"
  await server.github.writeComment({ repo: REPO, number: 1, author: "galley-review[bot]", body })
  expect(await server.poll()).toBeNull()
  expect(await server.job()).toMatchObject({ state: "failed", code: "finding_state_invalid" })
  expect(server.botComments().map((comment) => comment.body)).toEqual([body])
})

test("puts a job off while GitHub is down, longer each time, and counts no attempt", async () => {
  const server = await startReviewServer()
  const { sql } = server.context.store
  await server.openPullRequest()
  for (const waitMs of [15_000, 30_000, 60_000, 120_000]) {
    server.github.addFault({ method: "GET", path: "/repos/**", effect: { kind: "status", status: 502 } })
    expect(await server.poll({ waitMs: 5_000 })).toBeNull()
    const job = await server.job()
    expect(job).toMatchObject({ state: "waiting", failures: 0 })
    expect(job.waitMs).toBeGreaterThan(waitMs - 5_000)
    expect(job.waitMs).toBeLessThanOrEqual(waitMs)
    await sql`update review_jobs set run_after = now()`
  }
  expect(await server.lease()).toMatchObject({ attempt: 5 })
})

test("puts a job off for as long as a rate limit asks", async () => {
  const server = await startReviewServer()
  await server.openPullRequest()
  server.github.addFault({ method: "GET", path: "/repos/**", effect: { kind: "secondary_limit", retryAfterSeconds: 600 } })
  expect(await server.poll()).toBeNull()
  const job = await server.job()
  expect(job).toMatchObject({ state: "waiting", failures: 0 })
  expect(job.waitMs).toBeGreaterThan(590_000)
})

// B31
test.each([
  ["was suspended", (server: ReviewServer) => server.github.suspendInstallation(7, true), "installation_suspended"],
  ["is gone", (server: ReviewServer) => server.github.deleteInstallation(7), "installation_gone"],
])("ends a job at its lease when the installation %s and no webhook said so", async (_, change, code) => {
  const server = await startReviewServer()
  await server.openPullRequest()
  server.github.setWebhook({ url: null })
  await change(server)
  expect(await server.poll()).toBeNull()
  expect(await server.job()).toMatchObject({ state: "failed", code })
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
