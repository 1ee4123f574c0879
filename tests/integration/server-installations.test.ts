import { expect, test } from "vitest"
import { REPO, type ReviewServer, sampleChange, startReviewServer, syncedAtStart, until } from "./review-fixture.ts"
import { startTestServer, type TestServer } from "./server-fixture.ts"

const projects = (server: TestServer) =>
  server.context.store.sql<{ name: string; active: boolean; removed: boolean }[]>`
    select owner || '/' || name as name, coalesce((settings ->> 'active')::boolean, false) as active, removed_at is not null as removed
    from projects order by 1`
const installations = (server: TestServer) =>
  server.context.store.sql<{ account: string; suspended: boolean; removed: boolean }[]>`
    select account_login as account, suspended_at is not null as suspended, removed_at is not null as removed from installations order by 1`

/** A server with a job that waits, whose look at GitHub's list at the start is over: it would bring back what an event takes out. */
async function waiting(): Promise<ReviewServer> {
  const server = await startReviewServer()
  await syncedAtStart(server)
  await server.openPullRequest()
  expect(await server.job()).toMatchObject({ state: "waiting" })
  return server
}

// R-DATA-5
test("finds what was installed before it started, and activates nothing by itself", async () => {
  const { gitDirectory } = sampleChange()
  const server = await startTestServer(
    {},
    {
      prepare: async (github) => {
        await github.registerRepository({ owner: "acme", name: "shop", gitDirectory, installationId: 7 })
        await github.registerRepository({ owner: "acme", name: "till", gitDirectory, installationId: 7 })
        await github.registerRepository({ owner: "asleep", name: "bed", gitDirectory, installationId: 8 })
        await github.suspendInstallation(8, true)
      },
    },
  )
  const found = await until(
    () => projects(server),
    (rows) => rows.length === 2,
  )
  expect(found).toEqual([
    { name: "acme/shop", active: false, removed: false },
    { name: "acme/till", active: false, removed: false },
  ])
  expect(
    await until(
      () => installations(server),
      (rows) => rows.length === 2,
    ),
  ).toEqual([
    { account: "acme", suspended: false, removed: false },
    { account: "asleep", suspended: true, removed: false },
  ])
})

test("starts although one installation cannot be read, and reads the others", async () => {
  const { gitDirectory } = sampleChange()
  const server = await startTestServer(
    {},
    {
      prepare: async (github) => {
        await github.registerRepository({ owner: "acme", name: "shop", gitDirectory, installationId: 7 })
        await github.registerRepository({ owner: "other", name: "shop", gitDirectory, installationId: 8 })
        github.addFault({ method: "POST", path: "/app/installations/7/access_tokens", effect: { kind: "status", status: 500 } })
      },
    },
  )
  await until(
    () => projects(server),
    (rows) => rows.length === 2,
  )
})

test("follows repositories that are added, renamed and removed, and keeps their settings", async () => {
  const server = await startReviewServer()
  const { gitDirectory } = server.change
  await server.github.registerRepository({ owner: "acme", name: "till", gitDirectory, installationId: 7 })
  expect(await projects(server)).toEqual([
    { name: "acme/shop", active: true, removed: false },
    { name: "acme/till", active: false, removed: false },
  ])
  await server.github.renameRepository(REPO, "store")
  expect((await projects(server))[0]).toEqual({ name: "acme/store", active: true, removed: false })
  await server.github.removeRepository("acme/store")
  expect((await projects(server))[0]).toEqual({ name: "acme/store", active: true, removed: true })
})

// R-INTAKE-12
test("cancels the waiting job of a repository that was removed", async () => {
  const server = await waiting()
  await server.github.removeRepository(REPO)
  expect(await server.job()).toMatchObject({ state: "cancelled", code: "repository_gone" })
})

// R-INTAKE-12
test("cancels waiting jobs when an installation is suspended, and works for it again when it is resumed", async () => {
  const server = await waiting()
  await server.github.suspendInstallation(7, true)
  expect(await installations(server)).toMatchObject([{ suspended: true }])
  expect(await server.job()).toMatchObject({ state: "cancelled", code: "installation_suspended" })
  await server.github.suspendInstallation(7, false)
  expect(await installations(server)).toMatchObject([{ suspended: false }])
  await server.github.pushHead({ repo: REPO, number: 1 }, server.change.baseSha)
  await until(server.job, ({ state }) => state === "waiting")
})

test("cancels waiting jobs when the App is uninstalled, and knows the installation again when it comes back", async () => {
  const server = await waiting()
  await server.github.deleteInstallation(7)
  expect(await installations(server)).toEqual([{ account: "acme", suspended: false, removed: true }])
  expect(await server.job()).toMatchObject({ state: "cancelled", code: "installation_gone" })
  const [project] = await server.context.store.sql<[{ id: number }]>`select github_repository_id as id from projects`
  const repository = { id: project.id, name: "shop", full_name: REPO, private: true }
  await server.deliver("installation", {
    action: "created",
    installation: { id: 7, account: { login: "acme", id: 1 } },
    repositories: [repository],
  })
  expect(await installations(server)).toEqual([{ account: "acme", suspended: false, removed: false }])
})

test("takes an archived repository out and brings it back when it is no longer archived", async () => {
  const server = await waiting()
  const [project] = await server.context.store.sql<[{ id: number }]>`select github_repository_id as id from projects`
  const repository = { id: project.id, name: "shop", full_name: REPO, private: true, owner: { login: "acme" } }
  await server.deliver("repository", { action: "archived", installation: { id: 7 }, repository })
  expect(await projects(server)).toEqual([{ name: REPO, active: true, removed: true }])
  expect(await server.job()).toMatchObject({ state: "cancelled", code: "repository_gone" })
  // A late word about it does not bring it back.
  await server.deliver("repository", { action: "renamed", installation: { id: 7 }, repository })
  expect(await projects(server)).toEqual([{ name: REPO, active: true, removed: true }])
  await server.deliver("repository", { action: "unarchived", installation: { id: 7 }, repository })
  expect(await projects(server)).toEqual([{ name: REPO, active: true, removed: false }])
})

// R-INTAKE-14
test("never moves a repository to the workspace of another installation by an event of that installation", async () => {
  const server = await startReviewServer()
  const [project] = await server.context.store.sql<[{ id: number }]>`select github_repository_id as id from projects`
  const repository = { id: project.id, name: "stolen", full_name: "mallory/stolen", private: true, owner: { login: "mallory" } }
  await server.deliver("installation", { action: "created", installation: { id: 99, account: { login: "mallory", id: 9 } } })
  for (const action of ["renamed", "archived", "deleted", "unarchived"]) {
    await server.deliver("repository", { action, installation: { id: 99 }, repository })
  }
  expect(await projects(server)).toEqual([{ name: REPO, active: true, removed: false }])
})

test("takes no word but that it was created or resumed for a sign that an installation is live again", async () => {
  const server = await startReviewServer()
  const installation = { id: 7, account: { login: "acme", id: 1 } }
  const say = async () => {
    await server.deliver("installation", { action: "new_permissions_accepted", installation })
    await server.deliver("installation_repositories", {
      action: "added",
      installation,
      repositories_added: [],
      repositories_removed: [],
    })
  }
  await server.deliver("installation", { action: "suspend", installation })
  await say()
  expect(await installations(server)).toEqual([{ account: "acme", suspended: true, removed: false }])
  await server.deliver("installation", { action: "unsuspend", installation })
  expect(await installations(server)).toEqual([{ account: "acme", suspended: false, removed: false }])
  await server.deliver("installation", { action: "deleted", installation })
  await say()
  expect(await installations(server)).toEqual([{ account: "acme", suspended: false, removed: true }])
})
