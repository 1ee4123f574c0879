import { randomUUID } from "node:crypto"
import { Credentials, LEASE_TOKEN_HEADER, RUNNER_PROTOCOL_PATH } from "@galley/contract/protocol"
import { registerRunner } from "@galley/store/runners/register-runner"
import { rotateRunnerToken } from "@galley/store/runners/rotate-runner-token"
import { expect, test } from "vitest"
import { leaseRequest, startReviewServer } from "./review-fixture.ts"
import { bodyOf, codeOf, leased, verbs } from "./runner-fixture.ts"
import { RUNNER_TOKEN } from "./server-fixture.ts"
import { runOut } from "./store-fixture.ts"

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

// B52
test("refuses a runner that is too old", async () => {
  const server = await startReviewServer()
  const answer = await server.runner("/leases", leaseRequest({ runnerVersion: "0.0.1" }))
  expect(await codeOf(answer)).toMatchObject({ status: 426, code: "runner_too_old" })
})

// B49, F19, R-QUEUE-8
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

// B48
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

// B48
test("refuses the token that a runner had before it was rotated, and that of a runner that is gone", async () => {
  const server = await startReviewServer()
  const { store, workspaceId } = server.context
  const runner = await registerRunner(store, { workspaceId, name: "second", actor: "test" })
  const poll = (token: string) => server.runner("/leases", leaseRequest({ waitMs: 0 }), { authorization: `Bearer ${token}` })
  expect((await poll(runner.token)).status).toBe(204)

  const { token } = await rotateRunnerToken(store, { workspaceId, runnerId: runner.runnerId, actor: "test" }, 0)
  expect(await codeOf(await poll(runner.token))).toMatchObject({ status: 401, code: "runner_unauthorized" })
  expect((await poll(token)).status).toBe(204)
  await store.sql`delete from runners where id = ${runner.runnerId}`
  expect(await codeOf(await poll(token))).toMatchObject({ status: 401, code: "runner_unauthorized" })
})
