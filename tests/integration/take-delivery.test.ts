import { randomUUID } from "node:crypto"
import type { IntakeTarget } from "@galley/store/intake/read-target"
import { type DecidedDelivery, openIntake } from "@galley/store/intake/take-delivery"
import { updateSettings } from "@galley/store/projects/update-settings"
import { expect, test } from "vitest"
import { freshStore, pullRequestSnapshot, push, readJob, seedTenant, sha, type Tenant } from "./store-fixture.ts"

const deliveryOf = (tenant: Tenant, number: number, deliveryId: string = randomUUID()) => ({
  hostId: tenant.hostId,
  deliveryId,
  event: "pull_request",
  action: "opened",
  githubInstallationId: tenant.installationId,
  githubRepositoryId: tenant.repositoryId,
  pullRequestNumber: number,
})

const enqueue = (number: number, changes: Parameters<typeof pullRequestSnapshot>[1] = {}): DecidedDelivery => ({
  step: { action: "enqueue", debounceMs: 0 },
  pullRequest: pullRequestSnapshot(number, changes),
})

test("queues one job for a delivery that is taken fifty times at once on two servers", async () => {
  const store = await freshStore()
  const other = await freshStore(store.url)
  const tenant = await seedTenant(store)
  const intakes = [openIntake(store), openIntake(other)]
  const same = deliveryOf(tenant, 1)

  const taken = await Promise.all(Array.from({ length: 50 }, (_, i) => intakes[i % 2]?.take(same, () => enqueue(1))))

  expect(taken.filter((one) => one?.duplicate === false)).toHaveLength(1)
  const [count] =
    await store.sql`select count(*)::int as jobs, (select count(*)::int from webhook_deliveries) as deliveries from review_jobs`
  expect(count).toEqual({ jobs: 1, deliveries: 1 })
})

test("decides again when the settings were changed since its target was remembered", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const intake = openIntake(store)
  const seen: IntakeTarget[] = []
  const decide = (number: number) => (target: IntakeTarget) => {
    seen.push(target)
    return enqueue(number)
  }
  await intake.take(deliveryOf(tenant, 1), decide(1))
  await updateSettings(store, {
    workspaceId: tenant.workspaceId,
    projectId: tenant.projectId,
    version: 1,
    changes: { reviewKind: "dynamic" },
    actor: "test",
  })

  const taken = await intake.take(deliveryOf(tenant, 2), decide(2))

  expect(seen.map(({ project }) => project?.settings.reviewKind)).toEqual(["diff", "diff", "dynamic"])
  const jobId = taken?.duplicate === false ? (taken.jobId ?? "") : ""
  expect(await readJob(store, jobId)).toMatchObject({ state: "waiting", kind: "dynamic" })
})

test("decides again when the installation was suspended since its target was remembered", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const intake = openIntake(store)
  const decide = (number: number) => (target: IntakeTarget) =>
    target.installation?.suspended ? { step: { action: "ignore" as const, reason: "suspended" }, pullRequest: null } : enqueue(number)
  await intake.take(deliveryOf(tenant, 1), decide(1))
  await store.sql`update installations set suspended_at = now()`

  expect(await intake.take(deliveryOf(tenant, 2), decide(2))).toMatchObject({ outcome: "ignored", reason: "suspended" })
})

test("fails only the delivery that cannot be stored of those that came together", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const intake = openIntake(store)

  const taken = await Promise.allSettled(
    [1, 2, 3].map((number) => intake.take(deliveryOf(tenant, number), () => enqueue(number, number === 2 ? { title: "\0" } : {}))),
  )

  expect(taken.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"])
  const kept = await store.sql`select pull_request_number as n from webhook_deliveries order by 1`
  expect(kept.map(({ n }) => n)).toEqual([1, 3])
})

test("takes deliveries of one pull request that come together one after the other", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const intake = openIntake(store)
  const at = (minute: number) => ({ updatedAt: new Date(Date.UTC(2026, 10, 30, 11, minute)), headSha: `${minute}`.padStart(40, "0") })

  const taken = await Promise.all([5, 4, 6].map((minute) => intake.take(deliveryOf(tenant, 1), () => enqueue(1, at(minute)))))

  expect(taken.map((one) => (one?.duplicate === false ? [one.outcome, one.reason] : null))).toEqual([
    ["queued", null],
    ["ignored", "overtaken"],
    ["queued", null],
  ])
  const jobs = await store.sql`select head_sha as "headSha" from review_jobs`
  expect([...jobs]).toEqual([{ headSha: at(6).headSha }])
})

test("does nothing for a delivery that tells another state of the second that is known", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const { jobId } = await push(store, tenant, 1)
  const intake = openIntake(store)

  const taken = await Promise.all([
    intake.take(deliveryOf(tenant, 1), () => enqueue(1, { headSha: sha("a2") })),
    intake.take(deliveryOf(tenant, 2), () => enqueue(2)),
  ])

  expect(taken).toMatchObject([null, { outcome: "queued" }])
  expect(await readJob(store, jobId)).toMatchObject({ headSha: sha("a1") })
  expect([...(await store.sql`select pull_request_number as n from webhook_deliveries`)]).toEqual([{ n: 2 }])
})

test("cancels the waiting job of its pull request and no other, and says so", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const [closed, open] = [await push(store, tenant, 1), await push(store, tenant, 2)]
  const intake = openIntake(store)
  const cancel = (number: number): DecidedDelivery => ({
    step: { action: "cancel", code: "pull_request_closed" },
    pullRequest: pullRequestSnapshot(number, { open: false, updatedAt: new Date("2026-11-30T10:00:01Z") }),
  })

  const taken = await Promise.all([1, 3].map((number) => intake.take(deliveryOf(tenant, number), () => cancel(number))))

  expect(taken).toMatchObject([
    { outcome: "cancelled", reason: "pull_request_closed" },
    { outcome: "ignored", reason: "pull_request_closed" },
  ])
  expect(await readJob(store, closed.jobId)).toMatchObject({ state: "cancelled", code: "pull_request_closed" })
  expect(await readJob(store, open.jobId)).toMatchObject({ state: "waiting" })
})

test("tells what is known of the pull request when the decision needs it", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const { pullRequestId } = await push(store, tenant, 1)
  const intake = openIntake(store)
  const seen: (string | undefined)[] = []
  const look = (target: IntakeTarget) => {
    seen.push(target.pullRequest?.id)
    return { step: { action: "ignore" as const, reason: "test" }, pullRequest: null }
  }
  await intake.take(deliveryOf(tenant, 1), look, true)
  await intake.take(deliveryOf(tenant, 1), look, true)

  expect(seen).toEqual([pullRequestId, pullRequestId])
})
