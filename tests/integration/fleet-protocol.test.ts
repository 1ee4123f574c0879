import { noUsage } from "@galley/contract/usage"
import { listRunners } from "@galley/store/runners/list-runners"
import { registerRunner } from "@galley/store/runners/register-runner"
import { removeRunner } from "@galley/store/runners/remove-runner"
import { revokeOldToken } from "@galley/store/runners/revoke-old-token"
import { rotateRunnerToken } from "@galley/store/runners/rotate-runner-token"
import { TOKEN_OVERLAP_MS } from "@galley/store/runners/runner-token"
import { setRunnerPaused } from "@galley/store/runners/set-runner-paused"
import { expect, test } from "vitest"
import { leaseRequest, resultOf, startReviewServer, until } from "./review-fixture.ts"

const beat = { phase: "reviewing", progress: "", usage: noUsage }
const soon = { waitMs: 100 }

/** A server with a leased review and the runner that holds it, changed by an operator. */
async function leased() {
  const server = await startReviewServer()
  const { store, workspaceId } = server.context
  await server.openPullRequest()
  const lease = await server.lease()
  const [runner] = await listRunners(store, workspaceId)
  const change = { workspaceId, runnerId: runner?.id ?? "", actor: "octocat" }
  const pollAs = (token: string) => server.runner("/leases", leaseRequest(soon), { authorization: `Bearer ${token}` })
  return { server, store, lease, change, pollAs }
}

// R-FLEET-1
test("lets a runner go on polling with its old token until the overlap ends, and its review through the rotation", async () => {
  const { server, store, lease, change, pollAs } = await leased()

  const { token } = await rotateRunnerToken(store, change, TOKEN_OVERLAP_MS)

  expect((await server.on(lease, "heartbeat", beat)).status).toBe(200)
  expect((await server.runner("/leases", leaseRequest(soon))).status).toBe(204)
  expect((await pollAs(token)).status).toBe(204)
  // The machine was changed over in the middle of the review.
  expect((await server.on(lease, "heartbeat", beat, { authorization: `Bearer ${token}` })).status).toBe(200)
  await store.sql`update runners set previous_token_until = clock_timestamp()`
  expect((await server.runner("/leases", leaseRequest(soon))).status).toBe(401)
  expect((await server.on(lease, "heartbeat", beat)).status).toBe(401)
  expect((await server.on(lease, "result", resultOf(lease), { authorization: `Bearer ${token}` })).status).toBe(200)
  await until(server.job, ({ state }) => state === "succeeded")
})

// R-FLEET-1
test("refuses the old token as soon as it is revoked", async () => {
  const { server, store, change, pollAs } = await leased()
  const { token } = await rotateRunnerToken(store, change, TOKEN_OVERLAP_MS)

  await revokeOldToken(store, change)

  expect((await server.runner("/leases", leaseRequest(soon))).status).toBe(401)
  expect((await pollAs(token)).status).toBe(204)
})

// R-FLEET-3
test("gives a paused runner nothing more, and takes the result of what it works on", async () => {
  const { server, store, lease, change } = await leased()
  await server.github.openPullRequest({
    repo: "acme/shop",
    number: 2,
    baseSha: server.change.baseSha,
    headRef: "discounts",
    headSha: server.change.headSha,
  })
  await setRunnerPaused(store, change, { note: "a new disk" })

  const refused = await server.runner("/leases", leaseRequest(soon))

  expect([refused.status, await refused.json()]).toMatchObject([403, { error: { code: "runner_paused" } }])
  expect(await (await server.on(lease, "heartbeat", beat)).json()).toEqual({ action: "continue" })
  expect((await server.on(lease, "result", resultOf(lease))).status).toBe(200)
  await setRunnerPaused(store, change, null)
  expect(await server.lease()).toMatchObject({ job: { pullRequest: { number: 2 } } })
})

// R-FLEET-3
test("gives nothing to a poll that waits while its runner is paused", async () => {
  const server = await startReviewServer()
  const { store, workspaceId } = server.context
  const waiting = server.poll({ waitMs: 2_000 })
  await until(
    () => listRunners(store, workspaceId),
    ([runner]) => runner?.lastSeenAt !== null,
  )
  const [runner] = await listRunners(store, workspaceId)
  await setRunnerPaused(store, { workspaceId, runnerId: runner?.id ?? "", actor: "octocat" }, { note: "" })

  await server.openPullRequest()

  expect(await waiting).toBeNull()
  expect(await server.job()).toMatchObject({ state: "waiting" })
})

// R-FLEET-4
test("answers a removed runner 401 for every verb, and its job waits again", async () => {
  const { server, store, lease, change } = await leased()

  await removeRunner(store, change)

  expect((await server.runner("/leases", leaseRequest(soon))).status).toBe(401)
  for (const [verb, body] of [
    ["credentials", {}],
    ["heartbeat", beat],
    ["result", resultOf(lease)],
  ] as const) {
    expect([verb, (await server.on(lease, verb, body)).status]).toEqual([verb, 401])
  }
  expect(await server.job()).toMatchObject({ state: "waiting", failures: 0, code: null })
})

// R-FLEET-5
test("remembers the version of a runner that is too old, and counts nothing that it proved", async () => {
  const server = await startReviewServer()

  const answer = await server.runner("/leases", leaseRequest({ runnerVersion: "0.0.9" }))

  expect(answer.status).toBe(426)
  const [runner] = await listRunners(server.context.store, server.context.workspaceId)
  expect(runner).toMatchObject({ version: "0.0.9", capabilities: [], lastSeenAt: expect.any(Date) })
})

// R-FLEET-1
test("gives a poll that waits nothing once its token has ended, and its job to the next one", async () => {
  const server = await startReviewServer()
  const { store, workspaceId } = server.context
  const { runnerId, token } = await registerRunner(store, { workspaceId, name: "second", actor: "octocat" })
  const pollAs = (shown: string) => server.runner("/leases", leaseRequest({ waitMs: 10_000 }), { authorization: `Bearer ${shown}` })
  const waiting = pollAs(token)
  await until(
    () => listRunners(store, workspaceId),
    (runners) => runners.some(({ id, lastSeenAt }) => id === runnerId && lastSeenAt !== null),
  )

  const rotated = await rotateRunnerToken(store, { workspaceId, runnerId, actor: "octocat" }, 0)
  await server.openPullRequest()

  expect((await waiting).status).toBe(401)
  expect((await pollAs(rotated.token)).status).toBe(200)
  expect(await server.job()).toMatchObject({ state: "running", failures: 0 })
})
