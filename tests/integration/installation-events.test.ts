import { randomUUID } from "node:crypto"
import { readFileSync } from "node:fs"
import { reconcileHeads } from "@galley/server/reconcile-heads"
import { reconcileInstallations, syncInstallations } from "@galley/server/sync-installations"
import { recordInstallation } from "@galley/store/installations/record-installation"
import { recordRepositories } from "@galley/store/installations/record-repositories"
import { requestReview } from "@galley/store/projects/request-review"
import { completeJob } from "@galley/store/queue/complete-job"
import { expireLeases } from "@galley/store/queue/expire-leases"
import { inTransaction } from "@galley/store/transaction"
import { expect, test, vi } from "vitest"
import { never, startOutage } from "./reconciler-fixture.ts"
import { startTestServer, type TestServer } from "./server-fixture.ts"
import { claim, claimed, reviewed, type Tenant } from "./store-fixture.ts"

const fixtures = new URL("../../packages/github/src/fixtures/webhooks/", import.meta.url)
const payload = (file: string) => JSON.parse(readFileSync(new URL(`${file}.json`, fixtures), "utf8"))

/** The recorded payload's event: the part of its file name that GitHub sends in `X-GitHub-Event`. */
const send = async (server: TestServer, file: string, change: (body: ReturnType<typeof payload>) => void = () => {}) => {
  const body = payload(file)
  change(body)
  const answer = await server.deliver(file.split(".")[0] ?? "", body)
  return (await answer.json()) as { outcome: string; reason: string | null }
}

/** The repository and installation of the recorded pull requests, known and active, with one waiting job when asked for. */
async function startKnown(options: { withJob?: boolean } = {}): Promise<{ server: TestServer; tenant: Tenant }> {
  const server = await startTestServer()
  const opened = payload("pr.opened")
  await server.deliver("installation", {
    action: "created",
    installation: { id: opened.installation.id, account: { login: "Codertocat", id: 1 }, updated_at: 1_500_000_000 },
    repositories: [{ id: opened.repository.id, name: "Hello-World", full_name: "Codertocat/Hello-World", private: true }],
  })
  const { store, workspaceId, hostId } = server.context
  await store.sql`update projects set settings = '{"active": true, "debounceSeconds": 0}'`
  if (options.withJob) await server.deliver("pull_request", opened)
  const [project] = await store.sql<[{ id: string }]>`select id from projects`
  const [runner] = await store.sql<[{ id: string }]>`select id from runners`
  const ids = { repositoryId: opened.repository.id, installationId: opened.installation.id }
  return { server, tenant: { workspaceId, hostId, projectId: project.id, runnerId: runner.id, ...ids } }
}

const jobs = async ({ context }: TestServer) => [
  ...(await context.store.sql`select state, code, head_sha as "headSha" from review_jobs order by created_at`),
]
const projects = async ({ context }: TestServer) => [
  ...(await context.store.sql`
    select owner, name, private, removed_at is not null as removed, github_repository_id as id from projects order by github_repository_id`),
]
const installation = async ({ context }: TestServer, id: number) =>
  (
    await context.store.sql`
      select suspended_at is not null as suspended, removed_at is not null as removed, permissions from installations
      where github_installation_id = ${id}`
  )[0]

const INSTALLATION = 1
const toOurs = (body: ReturnType<typeof payload>) => {
  body.installation.id = INSTALLATION
}
const toOurRepository = (body: ReturnType<typeof payload>) => {
  body.repository.id = 186853002
}

const ends: [string, string, (body: ReturnType<typeof payload>) => void, string][] = [
  ["its installation is deleted", "installation.deleted", toOurs, "installation_gone"],
  ["its installation is suspended", "installation.suspend", toOurs, "installation_suspended"],
  [
    "its repository leaves the installation",
    "installation_repositories.removed",
    (body) => {
      toOurs(body)
      body.repositories_removed = [{ id: 186853002 }]
    },
    "repository_gone",
  ],
  ["its repository is deleted", "repository.deleted", toOurRepository, "repository_gone"],
  ["its repository goes to another owner", "repository.transferred", toOurRepository, "repository_gone"],
  [
    "its repository is archived",
    "repository.privatized",
    (body) => {
      body.action = "archived"
      body.repository.archived = true
    },
    "repository_gone",
  ],
]
const eventOf = (file: string) => (file.startsWith("repository") ? "repository" : (file.split(".")[0] ?? ""))

// S4
test.each(ends)("cancels a waiting job with a code when %s, and no runner gets it", async (_, file, change, code) => {
  const { server, tenant } = await startKnown({ withJob: true })
  const body = payload(file)
  change(body)
  await server.deliver(eventOf(file), body)

  expect(await jobs(server)).toMatchObject([{ state: "cancelled", code }])
  expect(await claim(server.context.store, tenant)).toBeNull()
})

test.each(ends)("does not let a job wait again that ran when %s", async (_, file, change, code) => {
  const { server, tenant } = await startKnown({ withJob: true })
  const { store } = server.context
  await claimed(store, tenant, { leaseMs: 1 })
  const body = payload(file)
  change(body)
  await server.deliver(eventOf(file), body)
  await store.sql`select pg_sleep(0.01)`
  await expireLeases(store)

  expect(await jobs(server)).toMatchObject([{ state: "cancelled", code }])
})

test.each(ends)("queues nothing more when %s, whoever asks", async (_, file, change, code) => {
  const { server, tenant } = await startKnown({ withJob: true })
  const body = payload(file)
  change(body)
  await server.deliver(eventOf(file), body)
  const pushed = await (await server.deliver("pull_request", payload("pr.synchronize"))).json()

  expect(pushed).not.toMatchObject({ outcome: "queued" })
  const request = { workspaceId: tenant.workspaceId, projectId: tenant.projectId, pullRequestNumber: 2, actor: "octocat" }
  await expect(requestReview(server.context.store, request)).rejects.toMatchObject({ code })
})

// S1
test("reviews a burst of pushes once, at the last head", async () => {
  const { server } = await startKnown()
  await server.deliver("pull_request", payload("pr.opened"))
  for (const digit of ["1", "2", "3"]) {
    const body = payload("pr.synchronize")
    body.pull_request.head.sha = digit.repeat(40)
    body.pull_request.updated_at = `2019-05-15T15:21:0${digit}Z`
    await server.deliver("pull_request", body)
  }
  expect(await jobs(server)).toMatchObject([{ state: "waiting", headSha: "3".repeat(40) }])
})

// S2
test("reviews a draft once it is ready", async () => {
  const { server } = await startKnown()
  await server.deliver("pull_request", payload("pr.opened.draft"))
  expect(await jobs(server)).toEqual([])
  await server.deliver("pull_request", payload("pr.ready_for_review"))
  expect(await jobs(server)).toMatchObject([{ state: "waiting" }])
})

// S3
test("runs nothing for a pull request that closes before a runner takes it", async () => {
  const { server, tenant } = await startKnown({ withJob: true })
  await server.deliver("pull_request", payload("pr.closed"))
  expect(await claim(server.context.store, tenant)).toBeNull()
  expect(await jobs(server)).toMatchObject([{ state: "cancelled", code: "pull_request_closed" }])
})

test("does not let a late closed event cancel the job of a pull request that was opened again", async () => {
  const { server } = await startKnown()
  const reopened = payload("pr.reopened")
  reopened.pull_request.updated_at = "2019-05-15T16:00:00Z"
  await server.deliver("pull_request", reopened)
  const answer = await server.deliver("pull_request", payload("pr.closed"))
  expect(await answer.json()).toMatchObject({ outcome: "ignored", reason: "overtaken" })
  expect(await jobs(server)).toMatchObject([{ state: "waiting" }])
})

// S5
test("goes on with a job whose repository was renamed: it goes by id", async () => {
  const { server, tenant } = await startKnown({ withJob: true })
  const body = payload("repository.renamed")
  body.repository.id = tenant.repositoryId
  await server.deliver("repository", body)

  const lease = await claimed(server.context.store, tenant)
  expect(lease.project).toMatchObject({ owner: "Octocoders", githubRepositoryId: tenant.repositoryId })
})

// S6
test.each(ends)("refuses to publish a job that ran when %s, without asking GitHub", async (_, file, change, code) => {
  const { server, tenant } = await startKnown({ withJob: true })
  const lease = await claimed(server.context.store, tenant)
  const body = payload(file)
  change(body)
  await server.deliver(eventOf(file), body)
  server.github.clearRequests()
  await completeJob(server.context.store, lease, reviewed(lease))

  await vi.waitFor(async () => expect(await jobs(server)).toMatchObject([{ state: "failed", code }]), { timeout: 10_000 })
  expect(server.github.requests().filter(({ path }) => path.includes("/issues/"))).toEqual([])
})

// S7
test("reviews the newest head when a push arrives before the opening", async () => {
  const { server } = await startKnown()
  const pushed = payload("pr.synchronize")
  pushed.pull_request.head.sha = "c".repeat(40)
  pushed.pull_request.updated_at = "2019-05-15T16:00:00Z"
  await server.deliver("pull_request", pushed)
  await server.deliver("pull_request", payload("pr.opened"))
  expect(await jobs(server)).toMatchObject([{ headSha: "c".repeat(40) }])
})

// S8
test("queues one job for two deliveries of the same head", async () => {
  const { server } = await startKnown()
  for (const id of [randomUUID(), randomUUID()]) await server.deliver("pull_request", payload("pr.opened"), { "x-github-delivery": id })
  expect(await jobs(server)).toHaveLength(1)
})

test("takes five hundred repositories in one delivery, and gives them up in one", async () => {
  const { server } = await startKnown()
  const repositories = Array.from({ length: 500 }, (_, index) => {
    const name = `r${index}`
    return { id: 500_000 + index, name, full_name: `octo/${name}`, private: index % 2 === 0 }
  })
  const added = await send(server, "installation_repositories.added", (body) => {
    toOurs(body)
    body.repositories_added = repositories
  })
  expect(added).toEqual({ outcome: "accepted", reason: "repositories_recorded" })
  expect((await projects(server)).filter(({ removed }) => !removed)).toHaveLength(501)
  expect((await projects(server)).filter(({ private: isPrivate }) => !isPrivate)).toHaveLength(250)

  await send(server, "installation_repositories.removed", (body) => {
    toOurs(body)
    body.repositories_removed = repositories
  })
  expect((await projects(server)).filter(({ removed }) => !removed)).toHaveLength(1)
})

test("stores whether a repository is private", async () => {
  const { server } = await startKnown()
  await server.deliver("repository", payload("repository.publicized"))
  expect(await projects(server)).toMatchObject([{ private: false }])
  await server.deliver("repository", payload("repository.privatized"))
  expect(await projects(server)).toMatchObject([{ private: true }])
})

test("does not bring an archived repository back because it is renamed, but because it is unarchived", async () => {
  const { server, tenant } = await startKnown()
  const act = (action: string, archived: boolean) => {
    const body = payload("repository.renamed")
    Object.assign(body, { action })
    Object.assign(body.repository, { id: tenant.repositoryId, archived })
    return server.deliver("repository", body)
  }
  await act("archived", true)
  await act("renamed", true)
  expect(await projects(server)).toMatchObject([{ removed: true, owner: "Octocoders" }])
  await act("unarchived", false)
  expect(await projects(server)).toMatchObject([{ removed: false }])
})

test("suspends and resumes an installation and keeps what it grants", async () => {
  const { server } = await startKnown()
  await send(server, "installation.suspend", toOurs)
  expect(await installation(server, INSTALLATION)).toMatchObject({ suspended: true, removed: false })
  await send(server, "installation.unsuspend", toOurs)
  expect(await installation(server, INSTALLATION)).toMatchObject({ suspended: false, permissions: { pull_requests: "write" } })

  await send(server, "installation.new_permissions_accepted", (body) => {
    toOurs(body)
    body.installation.updated_at = 1_700_000_000
    body.installation.permissions = { contents: "read" }
  })
  expect(await installation(server, INSTALLATION)).toMatchObject({ permissions: { contents: "read" } })
})

test("does not let late events undo newer ones", async () => {
  const { server } = await startKnown()
  const at = (seconds: number) => (body: ReturnType<typeof payload>) => {
    toOurs(body)
    body.installation.updated_at = seconds
  }
  await send(server, "installation.unsuspend", at(1_700_000_100))
  expect(await send(server, "installation.suspend", at(1_700_000_000))).toEqual({ outcome: "ignored", reason: "overtaken" })
  expect(await installation(server, INSTALLATION)).toMatchObject({ suspended: false })

  await send(server, "installation.deleted", at(1_700_000_200))
  expect(await send(server, "installation.created", at(1_700_000_200))).toMatchObject({ reason: "overtaken" })
  expect(await send(server, "installation_repositories.added", at(1_700_000_300))).toMatchObject({ reason: "overtaken" })
  expect(await installation(server, INSTALLATION)).toMatchObject({ removed: true })
})

test("does not wake a suspended installation because its repositories change", async () => {
  const { server } = await startKnown()
  await send(server, "installation.suspend", toOurs)
  await send(server, "installation_repositories.added", toOurs)
  expect(await installation(server, INSTALLATION)).toMatchObject({ suspended: true })
  expect((await projects(server)).length).toBeGreaterThan(1)
})

test("leaves the installation and repositories of one tenant alone whatever comes from another's", async () => {
  const { server, tenant } = await startKnown({ withJob: true })
  const { store, hostId } = server.context
  const [other] = await store.sql<[{ id: string }]>`
    insert into workspaces (id, slug, name) values (gen_random_uuid(), 'other', 'Other') returning id`
  await inTransaction(store, async (tx) => {
    const recorded = await recordInstallation(tx, other.id, { hostId, githubInstallationId: 99, accountLogin: "mallory", isLive: true })
    await recordRepositories(tx, { ...recorded, hostId }, [{ githubRepositoryId: 98, owner: "m", name: "n", webUrl: "", gitUrl: "" }])
  })
  const fromOther = (body: ReturnType<typeof payload>) => {
    body.installation = { ...body.installation, id: 99, account: { login: "mallory", id: 9 } }
    if (body.repository) body.repository.id = tenant.repositoryId
    if (body.repositories_removed) body.repositories_removed = [{ id: tenant.repositoryId }]
    if (body.repositories_added)
      body.repositories_added = [{ id: tenant.repositoryId, name: "stolen", full_name: "mallory/stolen", private: false }]
  }
  const before = await projects(server)

  for (const file of ["installation_repositories.removed", "installation_repositories.added", "installation.deleted"]) {
    await send(server, file, fromOther)
  }
  const deleted = payload("repository.deleted")
  fromOther(deleted)
  await server.deliver("repository", deleted)

  expect((await projects(server)).filter(({ id }) => id !== 98)).toEqual(before.filter(({ id }) => id !== 98))
  expect(await jobs(server)).toMatchObject([{ state: "waiting" }])
})

test("puts right by GitHub's own lists what events left wrong", async () => {
  const rig = await startOutage()
  const { server } = rig
  const { github, context } = server
  await syncInstallations(context)
  await github.registerInstallation({ id: 7002, account: "umbrella" })
  await github.suspendInstallation(7002, true)
  await context.store.sql`update installations set suspended_at = now(), permissions = '{}' where github_installation_id = 7001`
  await syncInstallations(context)
  expect(await installation(server, 7001)).toMatchObject({ suspended: false, permissions: { contents: "read" } })
  expect(await installation(server, 7002)).toMatchObject({ suspended: true })

  await rig.openPullRequest()
  await reconcileHeads(context, never)
  await github.deleteInstallation(7001)
  await reconcileInstallations(context)
  expect(await installation(server, 7001)).toMatchObject({ removed: true })
  expect(await rig.jobs()).toMatchObject([{ state: "cancelled", code: "installation_gone" }])
})
