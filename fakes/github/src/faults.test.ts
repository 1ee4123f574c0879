import { afterAll, afterEach, beforeAll, expect, test } from "vitest"
import { type FakeGitHub, startFakeGitHub } from "./fake-github.ts"
import type { Fault } from "./fault.ts"
import { ask, field, installationToken } from "./testing/test-client.ts"
import { createTestRepository, git, type TestRepository } from "./testing/test-repository.ts"

const comments = "/repos/acme/shop/issues/1/comments"
const onComments: Pick<Fault, "method" | "path"> = { method: "POST", path: "/repos/*/*/issues/*/comments" }
let repository: TestRepository
let fake: FakeGitHub
let token: string

beforeAll(async () => {
  repository = await createTestRepository()
  fake = await startFakeGitHub()
  await fake.registerRepository({ owner: "acme", name: "shop", gitDirectory: repository.directory, installationId: 7 })
  await fake.openPullRequest({ repo: "acme/shop", number: 1, baseSha: repository.base, headRef: "feature", headSha: repository.head })
  token = await installationToken(fake, 7)
})

afterAll(async () => {
  await Promise.all([fake?.close(), repository?.remove()])
})

afterEach(() => fake.clearFaults())

const write = (origin = fake.apiUrl) => ask(origin, "POST", comments, { token, body: { body: "Hello" } })
const written = () => fake.comments({ repo: "acme/shop", number: 1 }).length

test("a status is answered for the next calls of one route only, then the route works again", async () => {
  fake.addFault({ ...onComments, times: 2, effect: { kind: "status", status: 502 } })
  const before = written()
  expect((await ask(fake.apiUrl, "GET", comments, { token })).status).toBe(200)
  expect([(await write()).status, (await write(fake.rootApiUrl)).status, (await write()).status]).toEqual([502, 502, 201])
  expect(written()).toBe(before + 1)
})

test("a fault can let calls pass first", async () => {
  fake.addFault({ ...onComments, skip: 1, effect: { kind: "status", status: 500 } })
  expect([(await write()).status, (await write()).status]).toEqual([201, 500])
})

test("a delayed call is answered in the end", async () => {
  fake.addFault({ ...onComments, effect: { kind: "delay", ms: 150 } })
  const started = performance.now()
  expect((await write()).status).toBe(201)
  expect(performance.now() - started).toBeGreaterThan(145)
})

test("a destroyed connection does nothing, one destroyed after the write has written", async () => {
  const before = written()
  fake.addFault({ ...onComments, effect: { kind: "destroy" } })
  await expect(write()).rejects.toThrow()
  expect(written()).toBe(before)
  fake.addFault({ ...onComments, effect: { kind: "apply_then_destroy" } })
  await expect(write()).rejects.toThrow()
  expect(written()).toBe(before + 1)
  expect(fake.requests().at(-1)).toMatchObject({ status: 0, fault: "apply_then_destroy" })
})

test("a hanging call ends when its caller gives up", async () => {
  fake.addFault({ ...onComments, effect: { kind: "hang" } })
  const asking = fetch(fake.apiUrl + comments, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(100),
  })
  await expect(asking).rejects.toMatchObject({ name: "TimeoutError" })
})

test("a spent rate limit says when it is over", async () => {
  fake.addFault({ ...onComments, effect: { kind: "rate_limit", resetInSeconds: 90 } })
  const { status, headers } = await write()
  expect(status).toBe(403)
  expect(headers.get("x-ratelimit-remaining")).toBe("0")
  expect(headers.get("retry-after")).toBeNull()
  expect(Number(headers.get("x-ratelimit-reset")) - Date.now() / 1000).toBeGreaterThan(85)
})

test("a secondary limit says how long to wait while calls remain", async () => {
  fake.addFault({ ...onComments, effect: { kind: "secondary_limit", status: 429, retryAfterSeconds: 3 } })
  const { status, headers, body } = await write()
  expect([status, headers.get("retry-after")]).toEqual([429, "3"])
  expect(Number(headers.get("x-ratelimit-remaining"))).toBeGreaterThan(0)
  expect(String(field(body, "message"))).toContain("secondary rate limit")
})

test("a fault strikes git as well", async () => {
  fake.addFault({ path: "/acme/shop.git/**", effect: { kind: "status", status: 503 } })
  const basic = Buffer.from(`x-access-token:${token}`).toString("base64")
  const fetching = git(
    repository.directory,
    "-c",
    `http.extraHeader=Authorization: Basic ${basic}`,
    "ls-remote",
    `${fake.url}/acme/shop.git`,
  )
  await expect(fetching).rejects.toThrow()
  expect(fake.requests().at(-1)).toMatchObject({ status: 503, fault: "status" })
})

test("calls are counted for each caller, and the hour's last one is followed by 403", async () => {
  const small = await startFakeGitHub({ rateLimitPerHour: 2 })
  try {
    await small.registerRepository({ owner: "acme", name: "shop", gitDirectory: repository.directory, installationId: 7 })
    const own = await installationToken(small, 7)
    const answers = [1, 2, 3].map(() => () => ask(small.apiUrl, "GET", "/repos/acme/shop", { token: own }))
    const results = []
    for (const call of answers) results.push(await call())
    expect(results.map(({ status, headers }) => [status, headers.get("x-ratelimit-remaining")])).toEqual([
      [200, "1"],
      [200, "0"],
      [403, "0"],
    ])
    const { body } = await ask(small.apiUrl, "GET", "/rate_limit", { token: own })
    expect(body).toMatchObject({ rate: { limit: 2, used: 2, remaining: 0 } })
  } finally {
    await small.close()
  }
})
