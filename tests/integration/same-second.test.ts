import { openServer } from "@galley/server/open-server"
import { reconcileHeads } from "@galley/server/reconcile-heads"
import { requestReview } from "@galley/store/projects/request-review"
import { queueTask, taskQueues } from "@galley/store/tasks"
import { pino } from "pino"
import { expect, onTestFinished, test } from "vitest"
import { never, type OutageRig, REPO, startOutage } from "./reconciler-fixture.ts"
import { until } from "./review-fixture.ts"

const PULL = { repo: REPO, number: 1 }

type Rig = OutageRig &
  Readonly<{
    /** Sends the server what GitHub told of the pull request, counted from 0 in the order in which it happened. */
    tell(...events: number[]): Promise<void>
    /** Verdicts in the order of their deliveries, once each has one. */
    verdicts(): Promise<{ outcome: string; reason: string | null }[]>
    /** What is stored of the pull request. */
    known(): Promise<{ headSha: string; baseRef: string; draft: boolean; open: boolean } | undefined>
    /** How often the pull request was read from GitHub. */
    reads(): number
  }>

/** A server beside a GitHub whose clock stands still: all that happens there happens in one second. */
async function oneSecond(happens: (rig: OutageRig) => Promise<unknown>): Promise<Rig> {
  const second = Math.floor(Date.now() / 1_000) * 1_000
  const rig = await startOutage({}, { githubNow: () => second })
  const { server } = rig
  const { sql } = server.context.store
  await happens(rig)
  const told = server.github.deliveries().filter(({ event }) => event === "pull_request")
  server.github.clearRequests()
  return {
    ...rig,
    async tell(...events) {
      for (const event of events) expect((await server.deliver("pull_request", told[event]?.request.payload)).status).toBe(202)
    },
    verdicts: () =>
      until(
        async () => [
          ...(await sql<{ outcome: string; reason: string | null }[]>`
            select outcome, reason from webhook_deliveries where event = 'pull_request' order by received_at`),
        ],
        (all) => all.every(({ outcome }) => outcome !== "accepted"),
      ),
    known: async () =>
      (
        await sql<[Awaited<ReturnType<Rig["known"]>>]>`
          select head_sha as "headSha", base_ref as "baseRef", draft, open from pull_requests`
      )[0],
    reads: () => server.github.requests().filter(({ path }) => path.endsWith("/pulls/1")).length,
  }
}

const push = ({ server, shas }: OutageRig, commit: number) => server.github.pushHead(PULL, shas[commit] ?? "")
const overtaken = { outcome: "ignored", reason: "overtaken" }
const queued = { outcome: "queued", reason: null }

test("keeps the newest head when the push before it arrives after it", async () => {
  const rig = await oneSecond(async (given) => {
    await given.openPullRequest()
    await push(given, 2)
    await push(given, 3)
  })
  await rig.tell(2, 1, 0)

  expect(await rig.verdicts()).toEqual([queued, overtaken, overtaken])
  expect(await rig.known()).toMatchObject({ headSha: rig.shas[3] })
  expect(await rig.jobs()).toMatchObject([{ state: "waiting", headSha: rig.shas[3] }])
})

// R-INTAKE-15
test("moves to the head that GitHub has, and reads it once for all events of the second", async () => {
  const rig = await oneSecond(async (given) => {
    await given.openPullRequest()
    await push(given, 2)
    await push(given, 3)
  })
  await rig.tell(0, 1, 2)

  expect(await rig.verdicts()).toEqual([queued, queued, queued])
  expect(await rig.known()).toMatchObject({ headSha: rig.shas[3] })
  expect(await rig.jobs()).toMatchObject([{ state: "waiting", cause: "event", headSha: rig.shas[3] }])
  expect(rig.reads()).toBe(1)
})

// R-INTAKE-15
test("asks GitHub nothing when the events of a second tell the same", async () => {
  const rig = await oneSecond(async ({ openPullRequest, server }) => {
    await openPullRequest()
    await server.github.editPullRequest(PULL, { title: "another title" })
    await server.github.lockPullRequest(PULL, true)
  })
  await rig.tell(0, 1, 2)

  expect(await rig.verdicts()).toMatchObject([queued, { reason: "base_unchanged" }, { reason: "action_not_used" }])
  expect(rig.reads()).toBe(0)
})

test("takes no event late that GitHub's answer forestalled", async () => {
  const rig = await oneSecond(async (given) => {
    await given.openPullRequest()
    await push(given, 2)
    await push(given, 3)
  })
  await rig.tell(0, 1)
  await rig.verdicts()
  await rig.server.context.store.sql`update review_jobs set state = 'succeeded', finished_at = now()`
  await rig.tell(2)

  expect((await rig.verdicts()).at(-1)).toEqual(overtaken)
  expect(await rig.jobs()).toHaveLength(1)
})

type Story = {
  happens: (rig: OutageRig) => Promise<unknown>
  arrives: number[]
  known: { open?: boolean; draft?: boolean; baseRef?: string }
  /** State and code of its jobs. */
  jobs: [string, string | null][]
}
const close = ({ server }: OutageRig) => server.github.closePullRequest(PULL)
const reopen = ({ server }: OutageRig) => server.github.reopenPullRequest(PULL)
const setDraft = ({ server }: OutageRig, draft: boolean) => server.github.setDraft(PULL, draft)
const inTurn =
  (...steps: ((rig: OutageRig) => Promise<unknown>)[]) =>
  async (rig: OutageRig) => {
    for (const step of steps) await step(rig)
  }
const open = ({ openPullRequest }: OutageRig) => openPullRequest()
const openDraft = ({ openPullRequest }: OutageRig) => openPullRequest({ draft: true })

const stories: [string, Story][] = [
  [
    "open that was closed before it was opened again",
    { happens: inTurn(open, close, reopen), arrives: [0, 2, 1], known: { open: true }, jobs: [["waiting", null]] },
  ],
  ["closed of which the opening comes last", { happens: inTurn(open, close), arrives: [1, 0], known: { open: false }, jobs: [] }],
  [
    "closed that was opened again in between",
    {
      happens: inTurn(open, close, reopen, close),
      arrives: [0, 1, 3, 2],
      known: { open: false },
      jobs: [["cancelled", "pull_request_closed"]],
    },
  ],
  [
    "ready of which the end of an earlier draft comes last",
    {
      happens: inTurn(
        open,
        (rig) => setDraft(rig, true),
        (rig) => setDraft(rig, false),
      ),
      arrives: [0, 2, 1],
      known: { draft: false },
      jobs: [["waiting", null]],
    },
  ],
  [
    "a draft again of which that it was ready comes last",
    {
      happens: inTurn(
        openDraft,
        (rig) => setDraft(rig, false),
        (rig) => setDraft(rig, true),
      ),
      arrives: [0, 2, 1],
      known: { draft: true },
      jobs: [],
    },
  ],
  [
    "ready that was opened as a draft",
    {
      happens: inTurn(openDraft, (rig) => setDraft(rig, false)),
      arrives: [0, 1],
      known: { draft: false },
      jobs: [["waiting", null]],
    },
  ],
  [
    "on another base of which the opening comes last",
    {
      happens: inTurn(open, ({ server }) => server.github.editPullRequest(PULL, { baseRef: "release" })),
      arrives: [1, 0],
      known: { baseRef: "release" },
      jobs: [["waiting", null]],
    },
  ],
]

test.each(stories)("knows a pull request as it is that within one second is %s", async (_, { happens, arrives, known, jobs }) => {
  const rig = await oneSecond(happens)
  await rig.tell(...arrives)

  await rig.verdicts()
  expect(await rig.known()).toMatchObject(known)
  expect((await rig.jobs()).map(({ state, code }) => [state, code])).toEqual(jobs)
})

const openAndPush = inTurn(open, (rig) => push(rig, 2))
const movedTo = ({ server }: OutageRig, head: string | undefined) =>
  until(
    () => server.context.store.sql<{ headSha: string }[]>`select head_sha as "headSha" from review_jobs`,
    ([job]) => job?.headSha === head,
  )

test("carries a command out at the head that GitHub has with two reads, although the look at the doubted second waits", async () => {
  const rig = await oneSecond(openAndPush)
  const { github, context } = rig.server
  await rig.tell(0)
  const [pull] = await context.store.sql<[{ updatedAt: Date; projectId: string; workspaceId: string }]>`
    select updated_at as "updatedAt", project_id as "projectId", workspace_id as "workspaceId" from pull_requests`
  const wanted = { workspaceId: pull.workspaceId, projectId: pull.projectId, number: 1, updatedAt: pull.updatedAt.toISOString() }
  // As after a rate limit of GitHub: whoever asks for this look joins it.
  await queueTask(context.store, taskQueues.refreshPullRequest, wanted, 3_600)
  await github.writeComment({ ...PULL, author: "acme", body: "/review", authorAssociation: "MEMBER" })
  const comment = github.deliveries().findLast(({ event }) => event === "issue_comment")

  await rig.server.deliver("issue_comment", comment?.request.payload)

  await movedTo(rig, rig.shas[2])
  expect(rig.reads()).toBe(2)
})

test("moves a review that a person asks for to the head that GitHub has, should its event be lost", async () => {
  const rig = await oneSecond(openAndPush)
  await rig.tell(0)
  const { store, workspaceId } = rig.server.context
  const [project] = await store.sql<[{ id: string }]>`select id from projects`
  await requestReview(store, { workspaceId, projectId: project.id, pullRequestNumber: 1, actor: "octocat" })

  await movedTo(rig, rig.shas[2])
  expect(await rig.jobs()).toMatchObject([{ cause: "manual" }])
})

test("has a head looked at that the reconciler finds and cannot place", async () => {
  const rig = await oneSecond(openAndPush)
  await rig.tell(0)

  expect(await reconcileHeads(rig.server.context, never)).toBe(0)
  await movedTo(rig, rig.shas[2])
})

test("asks again when GitHub cannot be reached, and when it asks to wait", async () => {
  const rig = await oneSecond(openAndPush)
  const path = "/repos/*/*/pulls/1"
  rig.server.github.addFault({ path, effect: { kind: "status", status: 502 } })
  rig.server.github.addFault({ path, effect: { kind: "secondary_limit", retryAfterSeconds: 1 } })
  await rig.tell(0, 1)

  expect(await rig.verdicts()).toEqual([queued, queued])
  expect(await rig.known()).toMatchObject({ headSha: rig.shas[2] })
})

test("asks again when GitHub shows an older state than it told of", async () => {
  const rig = await oneSecond(openAndPush)
  const pull = [...rig.server.github.state.repositories.values()][0]?.pullRequests.get(1)
  if (pull === undefined) throw new Error("the pull request is there")
  const { updatedAt } = pull
  pull.updatedAt = "2020-01-01T00:00:00Z"
  await rig.tell(0, 1)
  await until(rig.reads, (reads) => reads > 0)
  pull.updatedAt = updatedAt

  expect(await rig.verdicts()).toEqual([queued, queued])
  expect(await rig.known()).toMatchObject({ headSha: rig.shas[2] })
})

test("says why a pull request could not be read, and keeps what it knew", async () => {
  const rig = await oneSecond(openAndPush)
  rig.server.github.addFault({ path: "/repos/*/*/pulls/1", times: 9, effect: { kind: "status", status: 404 } })
  await rig.tell(0, 1)

  expect(await rig.verdicts()).toEqual([queued, { outcome: "ignored", reason: "not_found" }])
  expect(await rig.known()).toMatchObject({ headSha: rig.shas[1] })
})

test("says that it gave up when the look at GitHub failed for good", async () => {
  const rig = await oneSecond(openAndPush)
  rig.server.github.addFault({ path: "/repos/*/*/pulls/1", times: 9, effect: { kind: "status", status: 503 } })
  await rig.server.context.store.boss.updateQueue(taskQueues.refreshPullRequest, { retryLimit: 0 })
  await rig.tell(0, 1)

  expect(await rig.verdicts()).toEqual([queued, { outcome: "ignored", reason: "github_unavailable" }])
})

test("leaves the question to the next server when this one ends before it asked", async () => {
  const rig = await oneSecond(openAndPush)
  await rig.tell(0, 1)
  await rig.server.close()
  expect(rig.reads()).toBe(0)
  const next = await openServer(rig.server.context.config, pino({ level: "silent" }))
  onTestFinished(() => next.close())

  await movedTo({ ...rig, server: { ...rig.server, ...next } }, rig.shas[2])
})
