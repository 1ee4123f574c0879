import { listProjectActivity } from "@galley/store/projects/list-project-activity"
import { findPullRequest } from "@galley/store/pull-requests/find-pull-request"
import { listPullRequests } from "@galley/store/pull-requests/list-pull-requests"
import { completeJob } from "@galley/store/queue/complete-job"
import { findRunWorkspace } from "@galley/store/runs/find-run-workspace"
import { listRuns } from "@galley/store/runs/list-runs"
import { ensureMember } from "@galley/store/workspaces/ensure-member"
import { recordUser } from "@galley/store/workspaces/record-user"
import { expect, test } from "vitest"
import { finding } from "./finding-fixture.ts"
import { claimed, freshStore, push, reviewed, seedTenant, sha } from "./store-fixture.ts"

const later = { headSha: sha("a2"), updatedAt: new Date("2026-11-30T12:00:00Z") }

// R-PAGE-8
test("lists open pull requests newest first, each with its busy job before its waiting one", async () => {
  const store = await freshStore()
  const [tenant, stranger] = [await seedTenant(store), await seedTenant(store)]
  await push(store, tenant, 1)
  const lease = await claimed(store, tenant)
  const waiting = await push(store, tenant, 1, { snapshot: later })
  await push(store, tenant, 2)
  await push(store, tenant, 3, { snapshot: { open: false } })

  const pullRequests = await listPullRequests(store, tenant.workspaceId, tenant.projectId)

  expect(pullRequests.map(({ number }) => number)).toEqual([2, 1])
  expect(pullRequests[1]).toMatchObject({
    headSha: sha("a2"),
    jobs: [
      { id: lease.jobId, state: "running", runId: lease.leaseId },
      { id: waiting.jobId, state: "waiting", runAfter: waiting.runAfter },
    ],
  })
  expect(await listPullRequests(store, stranger.workspaceId, tenant.projectId)).toEqual([])
})

test("finds one pull request, closed ones too, and none of another workspace", async () => {
  const store = await freshStore()
  const [tenant, stranger] = [await seedTenant(store), await seedTenant(store)]
  await push(store, tenant, 3, { snapshot: { open: false } })

  expect(await findPullRequest(store, tenant.workspaceId, tenant.projectId, 3)).toMatchObject({ number: 3, open: false })
  expect(await findPullRequest(store, tenant.workspaceId, tenant.projectId, 4)).toBeNull()
  expect(await findPullRequest(store, stranger.workspaceId, tenant.projectId, 3)).toBeNull()
})

test("tells for each project how many jobs wait and what its newest run was", async () => {
  const store = await freshStore()
  const [tenant, idle] = [await seedTenant(store), await seedTenant(store)]
  await push(store, tenant, 1)
  await claimed(store, tenant)
  await push(store, tenant, 2)
  const newest = await claimed(store, tenant)
  await push(store, tenant, 3)

  const lastRun = {
    id: newest.leaseId,
    kind: "diff",
    outcome: "running",
    jobState: "running",
    startedAt: expect.any(Date),
    pullRequestNumber: 2,
  }
  expect(await listProjectActivity(store, tenant.workspaceId)).toEqual([{ projectId: tenant.projectId, waitingJobs: 1, lastRun }])
  expect(await listProjectActivity(store, idle.workspaceId)).toEqual([{ projectId: idle.projectId, waitingJobs: 0, lastRun: null }])
})

test("names the workspace of a run to its members only", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  await push(store, tenant, 1)
  const { leaseId } = await claimed(store, tenant)
  const userId = await recordUser(store.sql, { hostId: tenant.hostId, githubUserId: 7, login: "octocat", name: "", avatarUrl: null })
  await expect(findRunWorkspace(store, userId, leaseId)).rejects.toMatchObject({ code: "not_found" })

  await ensureMember(store.sql, tenant.workspaceId, userId, "viewer")

  expect(await findRunWorkspace(store, userId, leaseId)).toMatch(/^w-/)
})

test("counts only the active findings of a run, and none before its result", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  await push(store, tenant, 1)
  const lease = await claimed(store, tenant)
  const counted = async () => (await listRuns(store, tenant.workspaceId)).map(({ activeFindings }) => activeFindings)
  expect(await counted()).toEqual([null])

  const findings = ["a", "b", "c"].map((id) => finding({ id, state: id === "b" ? "resolved" : "active" }))
  await completeJob(store, lease, reviewed(lease, { findings }))

  expect(await counted()).toEqual([2])
})
