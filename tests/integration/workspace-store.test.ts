import { randomUUID } from "node:crypto"
import { listAudit } from "@galley/store/audit/list-audit"
import { listGithubHosts } from "@galley/store/hosts/list-github-hosts"
import { listInstallations } from "@galley/store/installations/list-installations"
import { recordRepositories } from "@galley/store/installations/record-repositories"
import { getProjectAddress } from "@galley/store/projects/get-project-address"
import { listModelProviders } from "@galley/store/providers/list-model-providers"
import { resolveModel } from "@galley/store/providers/resolve-model"
import { saveModelProvider } from "@galley/store/providers/save-model-provider"
import { completeJob } from "@galley/store/queue/complete-job"
import { authenticateRunner } from "@galley/store/runners/authenticate-runner"
import { setRunnerPaused } from "@galley/store/runners/set-runner-paused"
import { getRun } from "@galley/store/runs/get-run"
import { listRuns } from "@galley/store/runs/list-runs"
import { createSession } from "@galley/store/sessions/create-session"
import { deleteSession } from "@galley/store/sessions/delete-session"
import { findSession } from "@galley/store/sessions/find-session"
import { sweepSessions } from "@galley/store/sessions/sweep-sessions"
import { inTransaction } from "@galley/store/transaction"
import { bootstrapWorkspace } from "@galley/store/workspaces/bootstrap-workspace"
import { getWorkspace } from "@galley/store/workspaces/get-workspace"
import { listMembers } from "@galley/store/workspaces/list-members"
import { listWorkspaces } from "@galley/store/workspaces/list-workspaces"
import { removeMember } from "@galley/store/workspaces/remove-member"
import { setMaxRunningJobs } from "@galley/store/workspaces/set-max-running-jobs"
import { setMemberRole } from "@galley/store/workspaces/set-member-role"
import { expect, test } from "vitest"
import { claim, claimed, freshStore, push, reviewed, seedTenant } from "./store-fixture.ts"

const model = { logical: "fast", upstream: "vendor/fast-1", contextTokens: 128_000, outputTokens: 8_000, price: null }
const environment = {
  workspace: { slug: "acme", name: "Acme" },
  host: {
    name: "github.com",
    webUrl: "https://github.com",
    apiUrl: "https://api.github.com",
    appId: 7,
    appSlug: "galley",
    privateKey: "the private key",
    webhookSecrets: ["new secret", "old secret"],
    clientId: "client",
    clientSecret: "the client secret",
  },
  provider: { name: "vendor", baseUrl: "https://models.example/v1", apiKey: "the model key", models: [model], defaultModel: "fast" },
  runner: { name: "first", token: "a token from the environment" },
  owner: { githubUserId: 1, login: "octocat", name: "Octo Cat", avatarUrl: null },
}

/** The user of the environment, who owns the workspace. */
async function bootstrapped(store: Awaited<ReturnType<typeof freshStore>>) {
  const { workspaceId, hostId, userId } = await bootstrapWorkspace(store, environment)
  if (hostId === null || userId === null) throw new Error("host and owner were given")
  return { workspaceId, hostId, userId }
}

test("sets a workspace up from the environment, and changes nothing the second time", async () => {
  const store = await freshStore()
  const first = await bootstrapped(store)
  const again = await bootstrapped(store)

  expect(again).toEqual(first)
  expect(await listGithubHosts(store)).toEqual([{ id: first.hostId, ...environment.host }])
  expect(await authenticateRunner(store, environment.runner.token)).toMatchObject({ workspaceId: first.workspaceId, name: "first" })
  expect(await listWorkspaces(store, first.userId)).toMatchObject([{ id: first.workspaceId, slug: "acme", role: "owner" }])
})

test("follows the environment's name and bound of running jobs with the next start, and keeps a bound it does not name", async () => {
  const store = await freshStore()
  const { workspace } = environment
  const start = async (given: { name: string; maxRunningJobs?: number }) => {
    await bootstrapWorkspace(store, { workspace: { slug: workspace.slug, ...given } })
    const [row] = await store.sql`select name, max_running_jobs as "maxRunningJobs" from workspaces where slug = ${workspace.slug}`
    return row
  }
  expect(await start({ name: "First", maxRunningJobs: 2 })).toEqual({ name: "First", maxRunningJobs: 2 })
  expect(await start({ name: "Second", maxRunningJobs: 9 })).toEqual({ name: "Second", maxRunningJobs: 9 })
  expect(await start({ name: "Second" })).toEqual({ name: "Second", maxRunningJobs: 9 })
})

// R-DATA-1
test("keeps no secret readable in the database", async () => {
  const store = await freshStore()
  await bootstrapped(store)
  const rows = await store.sql`
    select github_hosts::text from github_hosts union all select model_providers::text from model_providers
    union all select runners::text from runners`
  const dump = rows.map((row) => String(Object.values(row)[0])).join("\n")
  const decoded = dump.replaceAll(/\\\\x([0-9a-f]+)/g, (_, hex: string) => Buffer.from(hex, "hex").toString("latin1"))

  const { host, provider, runner } = environment
  for (const secret of [host.privateKey, ...host.webhookSecrets, host.clientSecret, provider.apiKey, runner.token]) {
    expect(decoded).not.toContain(secret)
  }
})

// R-INTAKE-14
test("resolves a logical model with its key for its own workspace alone", async () => {
  const store = await freshStore()
  const { workspaceId } = await bootstrapped(store)
  const stranger = await seedTenant(store)

  expect(await resolveModel(store, workspaceId, "fast")).toEqual({
    baseUrl: "https://models.example/v1",
    apiKey: "the model key",
    upstreamModel: "vendor/fast-1",
    contextTokens: 128_000,
    outputTokens: 8_000,
    price: null,
  })
  await expect(resolveModel(store, stranger.workspaceId, "fast")).rejects.toMatchObject({ code: "model_not_configured" })
  await expect(resolveModel(store, workspaceId, "slow")).rejects.toMatchObject({ code: "model_not_configured" })
})

test("changes a provider without asking for its key again, and shows it without", async () => {
  const store = await freshStore()
  const { workspaceId } = await bootstrapped(store)
  const { apiKey: _, ...provider } = environment.provider

  await saveModelProvider(store, store.sql, { ...provider, workspaceId, baseUrl: "https://other.example/v1" })

  expect(await resolveModel(store, workspaceId, "fast")).toMatchObject({ baseUrl: "https://other.example/v1", apiKey: "the model key" })
  expect(JSON.stringify(await listModelProviders(store, workspaceId))).not.toContain("the model key")
})

test("signs a browser in until it signs out or thirty days passed", async () => {
  const store = await freshStore()
  const { userId } = await bootstrapped(store)
  const [stays, leaves] = [await createSession(store, userId), await createSession(store, userId)]
  expect(await findSession(store, stays)).toMatchObject({ userId, login: "octocat" })
  expect(await findSession(store, "guess")).toBeNull()

  await deleteSession(store, leaves)
  expect(await findSession(store, leaves)).toBeNull()
  await store.sql`update sessions set expires_at = now()`
  expect(await findSession(store, stays)).toBeNull()
  expect(await sweepSessions(store)).toBe(1)
})

test("hides a workspace from people who are no members", async () => {
  const store = await freshStore()
  const { userId } = await bootstrapped(store)

  expect(await getWorkspace(store, userId, "acme")).toMatchObject({ role: "owner" })
  await expect(getWorkspace(store, randomUUID(), "acme")).rejects.toMatchObject({ code: "not_found" })
})

test("never leaves a workspace without an owner", async () => {
  const store = await freshStore()
  const { workspaceId, userId } = await bootstrapped(store)
  const forbidden = { code: "forbidden" }

  await expect(setMemberRole(store, workspaceId, userId, "member", "octocat")).rejects.toMatchObject(forbidden)
  await expect(removeMember(store, workspaceId, userId, "octocat")).rejects.toMatchObject(forbidden)
  await expect(removeMember(store, workspaceId, randomUUID(), "octocat")).rejects.toMatchObject({ code: "not_found" })
  expect(await listMembers(store, workspaceId)).toMatchObject([{ login: "octocat", role: "owner" }])
})

// R-DATA-3
test("writes changes to an audit log that nobody can rewrite", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  await setRunnerPaused(store, { ...tenant, actor: "octocat" }, { note: "a new disk" })

  const [entry] = await listAudit(store, tenant.workspaceId)
  expect(entry).toMatchObject({ actor: "octocat", action: "runner.pause", subject: tenant.runnerId, details: { note: "a new disk" } })
  await expect(store.sql`update audit_log set actor = 'nobody'`).rejects.toThrow()
  await expect(store.sql`delete from audit_log`).rejects.toThrow()
  await expect(store.sql`truncate audit_log`).rejects.toThrow()
})

test("stops leasing when the cap of a workspace is set to zero", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  await push(store, tenant, 1)
  await setMaxRunningJobs(store, tenant.workspaceId, 0, "octocat")
  expect(await claim(store, tenant)).toBeNull()
  await setMaxRunningJobs(store, tenant.workspaceId, 1, "octocat")
  expect(await claim(store, tenant)).not.toBeNull()
})

// R-INTAKE-14
test("never hands a repository to another workspace", async () => {
  const store = await freshStore()
  const [owner, thief] = [await seedTenant(store), await seedTenant(store)]
  const [installation] = await listInstallations(store, thief.workspaceId)
  if (!installation) throw new Error("the tenant has an installation")
  const repository = {
    githubRepositoryId: owner.repositoryId,
    owner: "thief",
    name: "demo",
    webUrl: "https://x.example",
    gitUrl: "https://x.example",
  }

  await inTransaction(store, (tx) => recordRepositories(tx, installation, [repository]))

  expect(await getProjectAddress(store, owner.workspaceId, owner.projectId)).toMatchObject({ githubInstallationId: owner.installationId })
  expect(await getProjectAddress(store, thief.workspaceId, owner.projectId)).toBeNull()
})

test("shows runs with their result to their own workspace alone", async () => {
  const store = await freshStore()
  const [tenant, stranger] = [await seedTenant(store), await seedTenant(store)]
  await push(store, tenant, 1)
  const lease = await claimed(store, tenant)
  await completeJob(store, lease, reviewed(lease))

  const [run] = await listRuns(store, tenant.workspaceId, { projectId: tenant.projectId })
  expect(run).toMatchObject({ run: { id: lease.leaseId, outcome: "reviewed" }, job: { state: "publishing" }, pullRequest: { number: 1 } })
  expect(await getRun(store, tenant.workspaceId, lease.leaseId)).toMatchObject({
    run: { usage: { modelCalls: 1 } },
    result: { comment: "a comment", coverage: { status: "complete" } },
  })
  expect(await listRuns(store, stranger.workspaceId)).toEqual([])
  await expect(getRun(store, stranger.workspaceId, lease.leaseId)).rejects.toMatchObject({ code: "not_found" })
})
