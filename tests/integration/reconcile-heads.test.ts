import { reconcileHeads } from "@galley/server/reconcile-heads"
import { cancelJob } from "@galley/store/queue/cancel-job"
import { expect, test } from "vitest"
import { listen } from "./listen.ts"
import { never, type OutageRig, REPO, startOutage } from "./reconciler-fixture.ts"

const reconcile = ({ server }: OutageRig, bounds: { pages: number; restMs: number }) => reconcileHeads(server.context, never, bounds)

/** Runs that read one page each of the one project, which is always due. @returns what each of them queued */
async function passes(rig: OutageRig, count: number): Promise<number[]> {
  const queued: number[] = []
  for (let pass = 0; pass < count; pass++) queued.push(await reconcile(rig, { pages: 1, restMs: -1_000 }))
  return queued
}

const settings = ({ server }: OutageRig, changes: Record<string, unknown>) =>
  server.context.store.sql`update projects set settings = settings || ${server.context.store.sql.json(changes as never)}`

/** Ends the job of the pull request. */
const end = ({ server }: OutageRig, state: string, code: string | null = null) =>
  server.context.store.sql`update review_jobs set state = ${state}, code = ${code}, finished_at = now()`

// F6, R-INTAKE-13
test("queues the head of an open pull request that no event announced, once", async () => {
  const rig = await startOutage()
  await rig.openPullRequest()

  expect(await passes(rig, 2)).toEqual([1, 0])
  expect(await rig.jobs()).toMatchObject([{ state: "waiting", cause: "reconciler", headSha: rig.shas[1], number: 1 }])
})

test("queues it once although two servers look at the same time", async () => {
  const rig = await startOutage()
  await rig.openPullRequest()

  const queued = await Promise.all([passes(rig, 1), passes(rig, 1)])
  expect(queued.flat().toSorted()).toEqual([0, 1])
  expect(await rig.jobs()).toHaveLength(1)
})

test("moves a waiting job to the head whose push was missed", async () => {
  let now = Date.now()
  const rig = await startOutage({}, { githubNow: () => now })
  await rig.openPullRequest()
  await passes(rig, 1)
  now += 1_000
  await rig.server.github.pushHead({ repo: REPO, number: 1 }, rig.shas[2] ?? "")

  expect(await passes(rig, 2)).toEqual([1, 0])
  expect(await rig.jobs()).toMatchObject([{ state: "waiting", headSha: rig.shas[2] }])
})

const notReviewed: [string, Parameters<OutageRig["openPullRequest"]>[0], Record<string, unknown>][] = [
  ["a draft", { draft: true }, {}],
  ["a bot's", { author: "dependabot[bot]" }, {}],
  ["one of an inactive project", {}, { active: false }],
]
test.each(notReviewed)("leaves %s pull request alone, as an event of it would", async (_, pull, changes) => {
  const rig = await startOutage()
  await settings(rig, changes)
  await rig.openPullRequest(pull)

  expect(await passes(rig, 1)).toEqual([0])
})

test.each(["succeeded", "failed", "skipped"])("leaves a head alone whose job has %s", async (state) => {
  const rig = await startOutage()
  await rig.openPullRequest()
  await passes(rig, 1)
  await end(rig, state)

  expect(await passes(rig, 1)).toEqual([0])
})

test("leaves a head alone that was reviewed, also when its job was removed", async () => {
  const rig = await startOutage()
  const { sql } = rig.server.context.store
  await rig.openPullRequest()
  await passes(rig, 1)
  await sql`update pull_requests set last_reviewed_sha = head_sha`
  await sql`delete from review_jobs`

  expect(await passes(rig, 1)).toEqual([0])
})

test("queues again what an outside reason cancelled, but not what a person cancelled", async () => {
  const rig = await startOutage()
  const { context } = rig.server
  await rig.openPullRequest()
  await passes(rig, 1)
  await end(rig, "cancelled", "installation_suspended")
  expect(await passes(rig, 1)).toEqual([1])

  const [waiting] = await context.store.sql<[{ id: string }]>`select id from review_jobs where state = 'waiting'`
  await cancelJob(context.store, context.workspaceId, waiting.id, "octocat")
  expect(await passes(rig, 1)).toEqual([0])
})

test("asks nothing about suspended and removed installations", async () => {
  const rig = await startOutage()
  const { sql } = rig.server.context.store
  await rig.openPullRequest()
  rig.server.github.clearRequests()

  await sql`update installations set suspended_at = now()`
  await passes(rig, 1)
  await sql`update installations set suspended_at = null, removed_at = now()`
  await passes(rig, 1)
  expect(rig.server.github.requests()).toEqual([])
})

test("does not take up pull requests from before the project was activated, unless they were under review", async () => {
  let now = Date.now()
  const rig = await startOutage({}, { githubNow: () => now })
  const { sql } = rig.server.context.store
  await rig.openPullRequest()
  await sql`update projects set activated_at = now() + interval '1 minute'`
  expect(await passes(rig, 1)).toEqual([0])

  await sql`update projects set activated_at = null`
  await passes(rig, 1)
  await end(rig, "succeeded")
  await sql`update projects set activated_at = now() + interval '1 minute'`
  now += 1_000
  await rig.server.github.pushHead({ repo: REPO, number: 1 }, rig.shas[2] ?? "")
  expect(await passes(rig, 1)).toEqual([1])
})

test("goes on with the next page in the next run", async () => {
  const rig = await startOutage()
  await rig.openPullRequest()
  const repository = [...rig.server.github.state.repositories.values()][0]
  const first = repository?.pullRequests.get(1)
  if (repository === undefined || first === undefined) throw new Error("the pull request is there")
  for (let number = 2; number <= 130; number++) repository.pullRequests.set(number, { ...first, number, id: 100_000 + number })

  expect(await passes(rig, 3)).toEqual([100, 30, 0])
  expect(new Set((await rig.jobs()).map(({ number }) => number)).size).toBe(130)
})

test("lets a compared project rest", async () => {
  const rig = await startOutage()
  expect(await reconcile(rig, { pages: 60, restMs: 60_000 })).toBe(0)
  rig.server.github.clearRequests()
  await rig.openPullRequest()

  expect(await reconcile(rig, { pages: 60, restMs: 60_000 })).toBe(0)
  expect(rig.server.github.requests()).toEqual([])
  await rig.server.context.store.sql`update project_scans set ended_at = now() - interval '2 minutes'`
  expect(await reconcile(rig, { pages: 60, restMs: 60_000 })).toBe(1)
})

test("lets the installation rest that GitHub limits, and goes on with the others", async () => {
  const rig = await startOutage()
  const { server, shas } = rig
  await rig.openPullRequest()
  await server.github.registerRepository({ owner: "umbrella", name: "lab", gitDirectory: rig.directory, installationId: 7002 })
  await server.deliver("installation", {
    action: "created",
    installation: { id: 7002, account: { login: "umbrella", id: 2 } },
    repositories: [...server.github.state.repositories.values()]
      .filter(({ name }) => name === "lab")
      .map(({ id }) => ({ id, name: "lab", full_name: "umbrella/lab", private: true })),
  })
  await settings(rig, { active: true })
  const pull = { repo: "umbrella/lab", number: 9, baseSha: shas[0] ?? "", headRef: "x", headSha: shas[1] ?? "" }
  await server.github.openPullRequest(pull)
  server.github.addFault({ path: "/repos/acme/shop/pulls", effect: { kind: "secondary_limit", retryAfterSeconds: 60 } })

  expect(await reconcile(rig, { pages: 10, restMs: 60_000 })).toBe(1)
  expect(await rig.jobs()).toMatchObject([{ number: 9 }])
})

test("takes the late event of a head it queued for overtaken, even when that head was reviewed", async () => {
  const rig = await startOutage()
  await rig.openPullRequest()
  await passes(rig, 1)
  await end(rig, "succeeded")
  const [failed] = rig.server.github.deliveries().slice(-1)

  rig.server.github.setWebhook({ url: `${await listen((request) => rig.server.app.fetch(request))}/webhooks/github` })
  await rig.server.github.redeliver(failed?.id ?? 0)

  const deliveries = await rig.server.context.store.sql`select outcome, reason from webhook_deliveries where event = 'pull_request'`
  expect([...deliveries]).toEqual([{ outcome: "ignored", reason: "overtaken" }])
  expect(await rig.jobs()).toHaveLength(1)
})

test("goes on with other repositories when one cannot be read", async () => {
  const rig = await startOutage()
  await rig.openPullRequest()
  rig.server.github.addFault({ path: "/repos/acme/shop/pulls", effect: { kind: "status", status: 404, message: "Not Found" } })

  expect(await passes(rig, 2)).toEqual([0, 1])
})
