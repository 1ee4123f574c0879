import { randomUUID } from "node:crypto"
import { noUsage } from "@galley/contract/usage"
import { listAudit } from "@galley/store/audit/list-audit"
import { completeJob } from "@galley/store/queue/complete-job"
import { heartbeat } from "@galley/store/queue/heartbeat"
import { authenticateRunner } from "@galley/store/runners/authenticate-runner"
import { listFleet } from "@galley/store/runners/list-fleet"
import { listRunners } from "@galley/store/runners/list-runners"
import { registerRunner } from "@galley/store/runners/register-runner"
import { removeRunner } from "@galley/store/runners/remove-runner"
import { revokeOldToken } from "@galley/store/runners/revoke-old-token"
import { rotateRunnerToken } from "@galley/store/runners/rotate-runner-token"
import { hashRunnerToken, TOKEN_OVERLAP_MS } from "@galley/store/runners/runner-token"
import { setRunnerPaused } from "@galley/store/runners/set-runner-paused"
import { touchRunner } from "@galley/store/runners/touch-runner"
import { getRun } from "@galley/store/runs/get-run"
import { listRuns } from "@galley/store/runs/list-runs"
import { bootstrapWorkspace } from "@galley/store/workspaces/bootstrap-workspace"
import { expect, test } from "vitest"
import { claim, claimed, freshStore, push, readJob, reviewed, seedTenant } from "./store-fixture.ts"

const capability = {
  kind: "diff" as const,
  engineVersion: "pr-agent 0.48.0",
  boundary: "enforced" as const,
  checkedAt: "2026-11-30T10:00:00.000Z",
  expiresAt: "2026-11-30T11:00:00.000Z",
}
const refused = { code: "runner_unauthorized" }
const unknown = { code: "not_found" }

/** A store, a tenant with its runner, and that runner's token. */
async function fleet() {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const { runnerId, token } = await registerRunner(store, { workspaceId: tenant.workspaceId, name: "build-1", actor: "octocat" })
  const change = { workspaceId: tenant.workspaceId, runnerId, actor: "octocat" }
  const auditOf = async () => (await listAudit(store, tenant.workspaceId)).filter(({ subject }) => subject === runnerId)
  return { store, tenant: { ...tenant, runnerId }, token, change, auditOf }
}

// R-FLEET-1
test("lets a runner in by its old and its new token for a day after a rotation, and then by the new one alone", async () => {
  const { store, token, change } = await fleet()

  const rotated = await rotateRunnerToken(store, change, TOKEN_OVERLAP_MS)

  expect(await authenticateRunner(store, token)).toMatchObject({ id: change.runnerId, usesOldToken: true })
  expect(await authenticateRunner(store, rotated.token)).toMatchObject({ id: change.runnerId, usesOldToken: false })
  const [{ hours }] = await store.sql<[{ hours: number }]>`
    select (extract(epoch from previous_token_until - clock_timestamp()) / 3600)::float8 as hours from runners where id = ${change.runnerId}`
  expect(hours).toBeGreaterThan(23.9)
  expect(hours).toBeLessThanOrEqual(24)
  await store.sql`update runners set previous_token_until = clock_timestamp() where id = ${change.runnerId}`
  await expect(authenticateRunner(store, token)).rejects.toMatchObject(refused)
  expect(await authenticateRunner(store, rotated.token)).toMatchObject({ id: change.runnerId })
})

// R-FLEET-1
test("ends the old token at once when a person says so, then or with the rotation itself", async () => {
  const { store, token, change, auditOf } = await fleet()
  const second = await rotateRunnerToken(store, change, TOKEN_OVERLAP_MS)
  await revokeOldToken(store, change)
  await revokeOldToken(store, change)
  await expect(authenticateRunner(store, token)).rejects.toMatchObject(refused)

  const third = await rotateRunnerToken(store, change, 0)

  await expect(authenticateRunner(store, second.token)).rejects.toMatchObject(refused)
  expect(await authenticateRunner(store, third.token)).toMatchObject({ id: change.runnerId })
  const audit = (await auditOf()).map(({ action, actor }) => [action, actor]).toReversed()
  expect(audit).toEqual(["register", "rotate", "revoke", "rotate"].map((verb) => [`runner.${verb}`, "octocat"]))
})

// R-FLEET-1
test("rotates no second time while the old token works, so that a form sent twice takes no token away", async () => {
  const { store, token, change } = await fleet()
  const both = await Promise.allSettled([
    rotateRunnerToken(store, change, TOKEN_OVERLAP_MS),
    rotateRunnerToken(store, change, TOKEN_OVERLAP_MS),
  ])

  expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"])
  expect(both.find(({ status }) => status === "rejected")).toMatchObject({ reason: { code: "runner_token_overlaps" } })
  expect(await authenticateRunner(store, token)).toMatchObject({ usesOldToken: true })
})

// R-FLEET-1
test("tells when the old token was last polled with", async () => {
  const { store, tenant, token, change } = await fleet()
  const usedAt = async () => (await listRunners(store, tenant.workspaceId)).find(({ id }) => id === change.runnerId)?.previousTokenUsedAt
  const poll = async (shown: string) =>
    touchRunner(store, await authenticateRunner(store, shown), { name: "host", version: "0.1.0", capabilities: [capability] })
  await poll(token)
  const rotated = await rotateRunnerToken(store, change, TOKEN_OVERLAP_MS)
  await poll(rotated.token)
  expect(await usedAt()).toBeNull()

  await poll(token)

  expect(await usedAt()).toBeInstanceOf(Date)
})

// R-FLEET-2
test("tells until when the old token works, and nothing of one that ended", async () => {
  const { store, tenant, change } = await fleet()
  const shown = async () => [
    (await listRunners(store, tenant.workspaceId)).find(({ id }) => id === change.runnerId)?.oldTokenUntil,
    (await listFleet(store)).find(({ name }) => name === "build-1")?.oldTokenUntil,
  ]
  expect(await shown()).toEqual([null, null])
  await rotateRunnerToken(store, change, TOKEN_OVERLAP_MS)
  expect(await shown()).toEqual([expect.any(Date), expect.any(Date)])

  await store.sql`update runners set previous_token_until = clock_timestamp() where id = ${change.runnerId}`

  expect(await shown()).toEqual([null, null])
})

// R-FLEET-2
test("takes another token of the environment as a rotation, and the same one as nothing new", async () => {
  const store = await freshStore()
  const start = (token: string) =>
    bootstrapWorkspace(store, { workspace: { slug: "acme", name: "Acme" }, runner: { name: "default", token } })
  const { workspaceId } = await start("the first token")
  await start("the first token")
  const [runner] = await listRunners(store, workspaceId)
  expect(runner?.oldTokenUntil).toBeNull()

  await start("the second token")
  await start("the second token")

  const id = runner?.id ?? ""
  expect(await authenticateRunner(store, "the first token")).toMatchObject({ id, usesOldToken: true })
  expect(await authenticateRunner(store, "the second token")).toMatchObject({ id, usesOldToken: false })
  await removeRunner(store, { workspaceId, runnerId: id, actor: "octocat" })
  await start("the third token")
  expect(await authenticateRunner(store, "the third token")).toMatchObject({ id })
  for (const gone of ["the first token", "the second token"]) await expect(authenticateRunner(store, gone)).rejects.toMatchObject(refused)
})

// R-FLEET-3
test("pauses a runner with a note: why, by whom and since when; a resume takes all of it away", async () => {
  const { store, tenant, change, auditOf } = await fleet()
  const shown = async () => (await listRunners(store, tenant.workspaceId)).find(({ id }) => id === change.runnerId)

  await setRunnerPaused(store, change, { note: "a new disk" })

  expect(await shown()).toMatchObject({ paused: true, pausedNote: "a new disk", pausedBy: "octocat", pausedAt: expect.any(Date) })
  await setRunnerPaused(store, { ...change, actor: "hubot" }, null)
  expect(await shown()).toMatchObject({ paused: false, pausedNote: "", pausedBy: null, pausedAt: null })
  const [resumed, paused] = await auditOf()
  expect([paused, resumed]).toMatchObject([
    { action: "runner.pause", actor: "octocat", details: { note: "a new disk" } },
    { action: "runner.resume", actor: "hubot", details: {} },
  ])
})

// R-FLEET-3
test("gives nothing to a runner that was paused while its poll waited, and the job to the next that asks", async () => {
  const { store, tenant, change } = await fleet()
  await push(store, tenant, 1)
  await setRunnerPaused(store, change, { note: "" })
  expect(await claim(store, tenant)).toBeNull()

  await setRunnerPaused(store, change, null)

  expect(await claim(store, tenant)).not.toBeNull()
})

// R-FLEET-4
test("removes a runner: its tokens are refused, and its jobs wait again at once without counting an attempt", async () => {
  const { store, tenant, token, change } = await fleet()
  const rotated = await rotateRunnerToken(store, change, TOKEN_OVERLAP_MS)
  for (const number of [1, 2]) await push(store, tenant, number)
  const leases = [await claimed(store, tenant), await claimed(store, tenant)]
  const [first, second] = leases
  if (first === undefined || second === undefined) throw new Error("two leases")
  await heartbeat(store, first, { phase: "reviewing", progress: "", usage: { ...noUsage, modelCalls: 3 } })

  await removeRunner(store, change)

  for (const shown of [token, rotated.token]) await expect(authenticateRunner(store, shown)).rejects.toMatchObject(refused)
  for (const { jobId, leaseId } of leases) {
    expect(await readJob(store, jobId)).toMatchObject({ state: "waiting", failures: 0 })
    const { run, runnerName } = await getRun(store, tenant.workspaceId, leaseId)
    expect([run.outcome, run.code, runnerName]).toEqual(["released", "runner_removed", "build-1"])
  }
  await expect(completeJob(store, first, reviewed(first))).rejects.toMatchObject({ code: "lease_lost" })
  expect(await claim(store, tenant)).toBeNull()
  const other = await registerRunner(store, { workspaceId: tenant.workspaceId, name: "build-2", actor: "octocat" })
  const again = await claimed(store, { ...tenant, runnerId: other.runnerId })
  expect([first.jobId, second.jobId]).toContain(again.jobId)
})

// R-FLEET-4
test("ends a cancelled job of a removed runner as cancelled, and leaves a lease alone that ended meanwhile", async () => {
  const { store, tenant, change } = await fleet()
  for (const number of [1, 2]) await push(store, tenant, number)
  const [stopped, done] = [await claimed(store, tenant), await claimed(store, tenant)]
  await store.sql`update review_jobs set cancel_code = 'cancelled_by_user' where id = ${stopped.jobId}`
  await completeJob(store, done, reviewed(done))

  await removeRunner(store, change)

  expect(await readJob(store, stopped.jobId)).toMatchObject({ state: "cancelled", code: "cancelled_by_user" })
  expect(await readJob(store, done.jobId)).toMatchObject({ state: "publishing" })
})

// R-FLEET-4
test("refuses a name that is taken, and gives that of a removed runner to a new one", async () => {
  const { store, tenant, token, change } = await fleet()
  const { workspaceId } = tenant
  const again = () => registerRunner(store, { workspaceId, name: "build-1", actor: "octocat" })
  await expect(again()).rejects.toMatchObject({ code: "runner_name_taken" })
  expect(await authenticateRunner(store, token)).toMatchObject({ id: change.runnerId })
  await registerRunner(store, { workspaceId: null, name: "build-1", actor: "octocat" })
  await setRunnerPaused(store, change, { note: "old" })
  await removeRunner(store, change)
  expect((await listRunners(store, workspaceId)).map(({ id }) => id)).not.toContain(change.runnerId)

  const made = await again()

  expect(await authenticateRunner(store, made.token)).toMatchObject({ name: "build-1", paused: false })
  await expect(authenticateRunner(store, token)).rejects.toMatchObject(refused)
})

// R-FLEET-4
test("keeps a removed runner out of a server of the version before, which does not know that runners are removed", async () => {
  const { store, token, change } = await fleet()
  await removeRunner(store, change)

  expect(await store.sql`select from runners where token_hash = ${hashRunnerToken(token)}`).toHaveLength(0)
})

// R-FLEET-2
test("changes runners of the named workspace alone, never another's, a shared or a removed one", async () => {
  const { store, tenant, token, change } = await fleet()
  const stranger = await seedTenant(store)
  const shared = await registerRunner(store, { workspaceId: null, name: "shared", actor: "octocat" })
  await removeRunner(store, { ...change, runnerId: tenant.runnerId })
  const wrong = [
    { ...change, workspaceId: stranger.workspaceId },
    { ...change, workspaceId: null },
    { ...change, runnerId: shared.runnerId },
    { ...change, runnerId: randomUUID() },
    change,
  ]

  for (const one of wrong) {
    await expect(rotateRunnerToken(store, one, TOKEN_OVERLAP_MS)).rejects.toMatchObject(unknown)
    await expect(revokeOldToken(store, one)).rejects.toMatchObject(unknown)
    await expect(setRunnerPaused(store, one, { note: "" })).rejects.toMatchObject(unknown)
    await expect(removeRunner(store, one)).rejects.toMatchObject(unknown)
  }
  await expect(authenticateRunner(store, token)).rejects.toMatchObject(refused)
  expect(await authenticateRunner(store, shared.token)).toMatchObject({ paused: false })
})

// R-FLEET-5
test("shows runners with what they proved and hold, without a trace of their tokens", async () => {
  const { store, tenant, change } = await fleet()
  const stranger = await seedTenant(store)
  await touchRunner(store, { id: change.runnerId, usesOldToken: false }, { name: "host-1", version: "1.2.3", capabilities: [capability] })
  await rotateRunnerToken(store, change, TOKEN_OVERLAP_MS)
  await push(store, tenant, 1)
  const lease = await claimed(store, tenant)

  const shown = (await listRunners(store, tenant.workspaceId)).find(({ id }) => id === change.runnerId)

  expect(shown).toMatchObject({ version: "1.2.3", reportedName: "host-1", capabilities: [capability], paused: false, running: 1 })
  for (const secret of ["tokenHash", "previousTokenHash"]) expect(shown).not.toHaveProperty(secret)
  const held = await listRuns(store, tenant.workspaceId, { heldBy: change.runnerId })
  expect(held.map(({ run }) => run.id)).toEqual([lease.leaseId])
  expect((await listRunners(store, stranger.workspaceId)).map(({ id }) => id)).toEqual([stranger.runnerId])
  await completeJob(store, lease, reviewed(lease))
  expect(await listRuns(store, tenant.workspaceId, { heldBy: change.runnerId })).toEqual([])
  expect((await listFleet(store)).map(({ name }) => name)).toContain("build-1")
})

// R-FLEET-5
test("sees a runner by its heartbeats while all its slots are busy, and tells no workspace how busy it is for another", async () => {
  const store = await freshStore()
  const [tenant, other] = [await seedTenant(store, { sharedRunner: true }), await seedTenant(store)]
  await push(store, tenant, 1)
  const lease = await claimed(store, tenant)
  await store.sql`update runners set last_seen_at = now() - interval '5 minutes' where id = ${tenant.runnerId}`
  await heartbeat(store, lease, { phase: "reviewing", progress: "", usage: noUsage })

  const seenBy = async (workspaceId: string) => (await listRunners(store, workspaceId)).find(({ id }) => id === tenant.runnerId)

  expect(await seenBy(tenant.workspaceId)).toMatchObject({ running: 1 })
  const elsewhere = await seenBy(other.workspaceId)
  expect(elsewhere).toMatchObject({ running: 0 })
  expect(Date.now() - (elsewhere?.lastSeenAt?.getTime() ?? 0)).toBeLessThan(60_000)
  expect((await listFleet(store)).map(({ lastSeenAt }) => lastSeenAt)).toContainEqual(elsewhere?.lastSeenAt)
})
