import {
  ProjectAnswer,
  ProjectsAnswer,
  ReviewQueuedAnswer,
  RunAnswer,
  RunsAnswer,
  SettingsAnswer,
  SignedInAnswer,
} from "@galley/server/pages/shapes"
import { completeJob } from "@galley/store/queue/complete-job"
import { expect, test } from "vitest"
import { finding } from "./finding-fixture.ts"
import { startPages, visitor } from "./pages-fixture.ts"
import { startTestServer } from "./server-fixture.ts"
import { claimed, push, reviewed, sha } from "./store-fixture.ts"

// R-PAGE-8
test("lists projects with their settings in JSON", async () => {
  const { owner, tenant } = await startPages({ maxFindings: 7 })

  const { projects } = ProjectsAnswer.parse(await owner.getJson(`${tenant.base}/projects`))

  expect(projects).toMatchObject([{ id: tenant.projectId, settings: { maxFindings: 7, reviewKind: "diff" }, settingsVersion: 1 }])
})

// R-PAGE-8
test("shows a project with its open pull requests and its runs in JSON", async () => {
  const { server, owner, tenant } = await startPages()
  await push(server.context.store, tenant, 4)

  const answer = ProjectAnswer.parse(await owner.getJson(tenant.projectPath))

  expect(answer.pullRequests).toMatchObject([
    { number: 4, headSha: sha("a1"), lastReviewedSha: null, jobState: "waiting", jobKind: "diff" },
  ])
  expect(answer.runs).toEqual([])
})

// R-PAGE-8
test("lists runs newest first with the number of active findings, and one run with all that it found", async () => {
  const { server, owner, tenant } = await startPages()
  const { store } = server.context
  await push(store, tenant, 1)
  const first = await claimed(store, tenant)
  await push(store, tenant, 2)
  const second = await claimed(store, tenant)
  const findings = [finding({ id: "f1" }), finding({ id: "f2", state: "resolved" })]
  await completeJob(store, first, reviewed(first, { findings }))

  const { runs } = RunsAnswer.parse(await owner.getJson(`${tenant.base}/runs?project=${tenant.projectId}`))
  const { run } = RunAnswer.parse(await owner.getJson(`${tenant.base}/runs/${first.leaseId}`))

  expect(runs.map(({ id }) => id)).toEqual([second.leaseId, first.leaseId])
  expect(runs).toMatchObject([
    { jobState: "running", findings: null, pullRequestNumber: 2 },
    { outcome: "reviewed", findings: 1, usage: { modelCalls: 1, costUsd: null }, jobId: first.jobId },
  ])
  expect(run).toMatchObject({ comment: "a comment", coverage: { status: "complete" }, trace: { engine: { name: "test" } } })
  expect(run.findingList.map(({ id }) => id)).toEqual(["f1", "f2"])
})

// R-PAGE-8
test("saves settings, resets the skill and queues a review for JSON callers", async () => {
  const { server, owner, tenant } = await startPages({ reviewSkill: "look at names" })
  await push(server.context.store, tenant, 1, { wanted: { debounceMs: 60_000 } })

  const saved = await owner.postJson(tenant.settingsPath, { version: 1, changes: { maxFindings: 3 } })
  expect(SettingsAnswer.parse(await saved.json())).toMatchObject({ version: 2, settings: { maxFindings: 3, reviewSkill: "look at names" } })
  const reset = await owner.postJson(`${tenant.settingsPath}/reset-skill`, { version: 2 })
  expect(SettingsAnswer.parse(await reset.json()).settings).not.toHaveProperty("reviewSkill")
  const queued = await owner.postJson(`${tenant.projectPath}/pulls/1/review`, {})

  expect(queued.status).toBe(202)
  const { jobId } = ReviewQueuedAnswer.parse(await queued.json())
  const rows = await server.context.store.sql`select id, cause, priority from review_jobs`
  expect(rows).toMatchObject([{ id: jobId, cause: "manual", priority: 10 }])
})

// R-PAGE-8
test("signs the demo user in and answers with the workspaces and the cookie", async () => {
  const server = await startTestServer({ GALLEY_DEMO_LOGIN: "1", GALLEY_WORKSPACE: "Demo" })

  const answer = await visitor(server, null).postJson("/sign-in/demo", {})

  expect(SignedInAnswer.parse(await answer.json())).toEqual({ workspaces: [{ slug: "demo", name: "Demo" }] })
  const [cookie = ""] = answer.headers.getSetCookie()
  expect(cookie).toMatch(/^galley_session=[\w-]{43}; .*HttpOnly; SameSite=Lax$/)
  const demo = visitor(server, cookie.split(";")[0] ?? "")
  expect(await demo.getJson("/w/demo/projects")).toEqual({ projects: [] })
})
