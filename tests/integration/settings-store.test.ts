import { withIntake } from "@galley/store/intake/with-intake"
import { getProject } from "@galley/store/projects/get-project"
import { listProjects } from "@galley/store/projects/list-projects"
import { requestReview } from "@galley/store/projects/request-review"
import { updateSettings } from "@galley/store/projects/update-settings"
import { expect, test, vi } from "vitest"
import { claim, claimed, freshStore, push, queueReview, readJob, seedTenant, type Tenant } from "./store-fixture.ts"

const change = (tenant: Tenant, version: number, changes: Record<string, unknown>) => ({
  workspaceId: tenant.workspaceId,
  projectId: tenant.projectId,
  actor: "octocat",
  version,
  changes,
})

// R-KIND-1, R-SET-1
test("fills defaults when settings are read and keeps keys it does not know when they are written", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store, { settings: { fromTheFuture: 1 } })
  await updateSettings(store, change(tenant, 1, { maxFindings: 5 }))

  const { settings, settingsVersion } = await getProject(store, tenant.workspaceId, tenant.projectId)

  expect(settings).toMatchObject({ fromTheFuture: 1, maxFindings: 5, reviewKind: "diff", debounceSeconds: 30 })
  expect(settingsVersion).toBe(2)
})

// R-SET-3
test("goes back to the shipped skill with null", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store, { settings: { reviewSkill: "look at names" } })

  const { settings } = await updateSettings(store, change(tenant, 1, { reviewSkill: null }))

  expect(settings).not.toHaveProperty("reviewSkill")
})

// B54, R-SET-2
test("refuses settings out of bounds and names the field", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)

  await expect(updateSettings(store, change(tenant, 1, { maxFindings: 31 }))).rejects.toMatchObject({
    code: "settings_invalid",
    details: { field: "maxFindings" },
  })
  await expect(updateSettings(store, change(tenant, 1, { reviewKind: "DIFF" }))).rejects.toMatchObject({ code: "settings_invalid" })
})

// B55, R-SET-4
test("refuses to save over someone else's change", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)

  const saves = await Promise.allSettled([5, 6].map((maxFindings) => updateSettings(store, change(tenant, 1, { maxFindings }))))

  expect(saves.find(({ status }) => status === "rejected")).toMatchObject({ reason: { code: "settings_conflict" } })
  expect(saves.filter(({ status }) => status === "fulfilled")).toHaveLength(1)
})

// F52, R-KIND-2, R-KIND-3
test("cancels waiting jobs with a change of kind, and lets the running one finish", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const running = await push(store, tenant, 1)
  await claimed(store, tenant)
  const waiting = await push(store, tenant, 2)

  await updateSettings(store, change(tenant, 1, { reviewKind: "dynamic" }))

  expect(await readJob(store, waiting.jobId)).toMatchObject({ state: "cancelled", code: "review_kind_changed" })
  expect(await readJob(store, running.jobId)).toMatchObject({ state: "running", kind: "diff" })
  expect(await readJob(store, (await push(store, tenant, 2)).jobId)).toMatchObject({ state: "waiting", kind: "dynamic" })
})

// R-INTAKE-12
test("cancels waiting jobs with a deactivation, and none for another setting", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const { jobId } = await push(store, tenant, 1)

  await updateSettings(store, change(tenant, 1, { maxFindings: 3 }))
  expect(await readJob(store, jobId)).toMatchObject({ state: "waiting" })
  await updateSettings(store, change(tenant, 2, { active: false }))
  expect(await readJob(store, jobId)).toMatchObject({ state: "cancelled", code: "project_inactive" })
})

// F52, R-KIND-3, R-QUEUE-10
test("never leaves a waiting job of the old kind behind, in sixty races of pushes and a change of kind", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store, { maxRunningJobs: 1000 })
  for (let round = 1; round <= 60; round++) {
    const kind = round % 2 ? "dynamic" : "diff"
    const pushes = Array.from({ length: 6 }, (_, i) => push(store, tenant, i + 1, { wanted: { debounceMs: 60_000 } }))
    await Promise.all([...pushes, updateSettings(store, change(tenant, round, { reviewKind: kind }))])
    const stale = await store.sql`select id from review_jobs where state = 'waiting' and review_kind <> ${kind}`
    expect(stale).toHaveLength(0)
  }
})

// R-QUEUE-10
test("makes a change of kind wait for a delivery that already read the old kind, and then cancels its job", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const delivery = {
    hostId: tenant.hostId,
    deliveryId: crypto.randomUUID(),
    event: "pull_request",
    action: "opened",
    githubInstallationId: tenant.installationId,
    githubRepositoryId: tenant.repositoryId,
    pullRequestNumber: 1,
  }
  let saved: Promise<unknown> | undefined
  const { duplicate: _, ...verdict } = await withIntake(store, delivery, async (tx, { project }) => {
    saved = updateSettings(store, change(tenant, 1, { reviewKind: "dynamic" }))
    // The change has come as far as it can when the database shows it waiting for our lock.
    await vi.waitFor(async () => {
      const waiting = await store.sql`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
      expect(waiting).not.toHaveLength(0)
    })
    return queueReview(tx, project)
  })
  await saved

  expect(await readJob(store, "jobId" in verdict ? (verdict.jobId ?? "") : "")).toMatchObject({ code: "review_kind_changed" })
})

test("queues an urgent job at the known head when a person asks", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const old = await push(store, tenant, 1, { wanted: { debounceMs: 60_000 } })
  const request = { workspaceId: tenant.workspaceId, projectId: tenant.projectId, pullRequestNumber: 1, actor: "octocat" }

  const job = await requestReview(store, request)

  expect(job).toMatchObject({ jobId: old.jobId, isNew: false })
  expect(await claim(store, tenant)).toMatchObject({ jobId: job.jobId })
})

test("queues nothing by hand for an inactive project, a closed pull request or a stranger", async () => {
  const store = await freshStore()
  const [tenant, stranger] = [await seedTenant(store), await seedTenant(store)]
  await push(store, tenant, 1)
  const request = { workspaceId: tenant.workspaceId, projectId: tenant.projectId, pullRequestNumber: 1, actor: "octocat" }

  await expect(requestReview(store, { ...request, pullRequestNumber: 2 })).rejects.toMatchObject({ code: "not_found" })
  await expect(requestReview(store, { ...request, workspaceId: stranger.workspaceId })).rejects.toMatchObject({ code: "not_found" })
  await store.sql`update pull_requests set open = false`
  await expect(requestReview(store, request)).rejects.toMatchObject({ code: "pull_request_closed" })
  await updateSettings(store, change(tenant, 1, { active: false }))
  await expect(requestReview(store, request)).rejects.toMatchObject({ code: "project_inactive" })
})

test("shows and changes only projects of the workspace", async () => {
  const store = await freshStore()
  const [tenant, stranger] = [await seedTenant(store), await seedTenant(store)]

  expect((await listProjects(store, tenant.workspaceId)).map(({ id }) => id)).toEqual([tenant.projectId])
  await expect(getProject(store, stranger.workspaceId, tenant.projectId)).rejects.toMatchObject({ code: "not_found" })
  const foreign = { ...change(tenant, 1, { active: false }), workspaceId: stranger.workspaceId }
  await expect(updateSettings(store, foreign)).rejects.toMatchObject({ code: "not_found" })
})
