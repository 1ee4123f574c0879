import { LEASE_TOKEN_HEADER, type Lease, RUNNER_PROTOCOL_PATH } from "@galley/contract/protocol"
import { noUsage } from "@galley/contract/usage"
import { cancelJob } from "@galley/store/queue/cancel-job"
import { expect, test } from "vitest"
import { resultOf, stateAt, until } from "./review-fixture.ts"
import { codeOf, leased } from "./runner-fixture.ts"
import { RUNNER_TOKEN } from "./server-fixture.ts"
import { runOut } from "./store-fixture.ts"

// B50, R-QUEUE-13
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

// B51, R-PROTO-6
test.each(unfit)("refuses a result with %s before anything is stored", async (_, bodyFor, code, field) => {
  const { server, lease } = await leased()
  const answer = await codeOf(await server.on(lease, "result", bodyFor(lease)))
  expect(answer).toMatchObject({ status: 422, code, ...(field === undefined ? {} : { field }) })
  expect(await server.context.store.sql`select 1 from review_results`).toHaveLength(0)
  expect((await server.on(lease, "result", resultOf(lease))).status).toBe(200)
})

// B51, R-PROTO-3
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
  expect(chunked.headers.get("connection")).toBe("close")
})

// report B28, F11, F19
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

// B50
test("takes the result of a job that was cancelled meanwhile, publishes nothing of it, and takes it again", async () => {
  const { server, lease } = await leased()
  const { store, workspaceId } = server.context
  await cancelJob(store, workspaceId, lease.job.id, "octocat")
  const result = resultOf(lease)
  for (const _ of [1, 2]) expect((await server.on(lease, "result", result)).status).toBe(200)
  expect(await server.job()).toMatchObject({ state: "cancelled", code: "cancelled_by_user" })
  expect(server.botComments()).toEqual([])
})

// B50
test("refuses a result for a job that waits again", async () => {
  const { server, lease } = await leased()
  await server.on(lease, "release")
  expect(await codeOf(await server.on(lease, "result", resultOf(lease)))).toMatchObject({ status: 409, code: "lease_lost" })
  expect(await server.job()).toMatchObject({ state: "waiting" })
})
