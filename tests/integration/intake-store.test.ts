import { randomUUID } from "node:crypto"
import { removeInstallation } from "@galley/store/installations/remove-installation"
import { removeRepositories } from "@galley/store/installations/remove-repositories"
import { suspendInstallation } from "@galley/store/installations/suspend-installation"
import type { IntakeTarget } from "@galley/store/intake/read-target"
import { type Delivery, withIntake } from "@galley/store/intake/with-intake"
import { whyNoReview } from "@galley/store/runs/why-no-review"
import { type TaskQueue, taskQueues } from "@galley/store/tasks"
import { inTransaction, type Transaction } from "@galley/store/transaction"
import { expect, test } from "vitest"
import { claim, freshStore, push, queueReview, readJob, seedTenant, type Tenant } from "./store-fixture.ts"

function delivery(tenant: Tenant, changes: Partial<Delivery> = {}): Delivery {
  return {
    hostId: tenant.hostId,
    deliveryId: randomUUID(),
    event: "pull_request",
    action: "opened",
    githubInstallationId: tenant.installationId,
    githubRepositoryId: tenant.repositoryId,
    pullRequestNumber: 1,
    ...changes,
  }
}

const queue = (tx: Transaction, { project }: IntakeTarget) => queueReview(tx, project)

// R-INTAKE-3
test("queues one job for a delivery that arrives fifty times at once", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const twice = delivery(tenant)

  const answers = await Promise.all(Array.from({ length: 50 }, () => withIntake(store, twice, queue)))

  expect(answers.filter(({ duplicate }) => !duplicate)).toHaveLength(1)
  const [count] =
    await store.sql`select count(*)::int as jobs, (select count(*)::int from webhook_deliveries) as deliveries from review_jobs`
  expect(count).toEqual({ jobs: 1, deliveries: 1 })
})

// R-INTAKE-4
test("leaves nothing behind when it fails, so that a redelivery works", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const once = delivery(tenant)
  const broken = withIntake(store, once, async (tx, target) => {
    await queue(tx, target)
    await tx.sendTask("react-to-command", { n: 1 })
    throw new Error("a fault before commit")
  })
  await expect(broken).rejects.toThrow("a fault before commit")
  expect(await store.boss.findJobs("react-to-command", {})).toEqual([])

  expect(await withIntake(store, once, queue)).toMatchObject({ duplicate: false, outcome: "queued" })
})

// R-INTAKE-3
test("stores tasks of a delivery with its commit", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)

  await withIntake(store, delivery(tenant), async (tx) => {
    await tx.sendTask("resolve-command-head", { number: 1 })
    return { outcome: "accepted", reason: "command" }
  })

  expect(await store.boss.findJobs("resolve-command-head", {})).toMatchObject([{ data: { number: 1 } }])
})

test("keeps each of several tasks sent at once, and one of those that are equal where a queue holds equal ones once", async () => {
  const store = await freshStore()
  const numbers = async (queue: TaskQueue) => {
    await inTransaction(store, (tx) => tx.sendTasks(queue, [{ number: 1 }, { number: 2 }, { number: 1 }]))
    return (await store.boss.findJobs<{ number: number }>(queue, {})).map(({ data }) => data.number).sort()
  }
  expect(await numbers(taskQueues.refreshPullRequest)).toEqual([1, 2])
  expect(await numbers(taskQueues.publishComment)).toEqual([1, 1, 2])
})

test("hands over what is known of installation, project and pull request", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  await push(store, tenant, 1)
  const seen: IntakeTarget[] = []
  const look = async (_: Transaction, target: IntakeTarget) => {
    seen.push(target)
    return { outcome: "ignored" as const, reason: "test" }
  }

  await withIntake(store, delivery(tenant), look)
  await withIntake(store, delivery(tenant, { githubRepositoryId: 1, githubInstallationId: 1 }), look)
  await withIntake(store, delivery(tenant, { githubRepositoryId: null, githubInstallationId: null, pullRequestNumber: null }), look)

  const nothing = { installation: null, project: null, pullRequest: null }
  expect(seen).toMatchObject([
    {
      installation: { suspended: false },
      project: { id: tenant.projectId, settings: { active: true } },
      pullRequest: { lastReviewedSha: null },
    },
    nothing,
    nothing,
  ])
})

test("keeps the same delivery id of two hosts apart", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const first = delivery(tenant)
  const ignore = async () => ({ outcome: "ignored" as const, reason: "test" })

  await withIntake(store, first, ignore)

  expect(await withIntake(store, { ...first, hostId: randomUUID() }, ignore)).toMatchObject({ duplicate: false })
})

test("answers why there was no review with the stored reasons", async () => {
  const store = await freshStore()
  const [tenant, stranger] = [await seedTenant(store), await seedTenant(store)]
  await withIntake(store, delivery(tenant, { action: "edited" }), async () => ({ outcome: "ignored", reason: "draft" }))
  await withIntake(store, delivery(tenant), queue)

  const history = await whyNoReview(store, tenant.workspaceId, tenant.projectId, 1)

  expect(history.deliveries.map(({ outcome, reason }) => ({ outcome, reason }))).toEqual([
    { outcome: "queued", reason: null },
    { outcome: "ignored", reason: "draft" },
  ])
  expect(history.jobs).toMatchObject([{ state: "waiting", cause: "event" }])
  expect(await whyNoReview(store, stranger.workspaceId, tenant.projectId, 1)).toEqual({ deliveries: [], jobs: [] })
})

// R-INTAKE-12
test("cancels waiting jobs when the installation is suspended or removed, or the repository leaves it", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const [row] = await store.sql<[{ id: string }]>`select id from installations`
  const installation = { id: row.id, workspaceId: tenant.workspaceId, hostId: tenant.hostId }
  const codes: (string | null)[] = []
  for (const leave of [
    (tx: Transaction) => suspendInstallation(tx, installation),
    (tx: Transaction) => removeInstallation(tx, installation),
    (tx: Transaction) => removeRepositories(tx, installation, [tenant.repositoryId]),
  ]) {
    const { jobId } = await push(store, tenant, 1)
    await inTransaction(store, leave)
    codes.push((await readJob(store, jobId)).code)
  }

  expect(codes).toEqual(["installation_suspended", "installation_gone", "repository_gone"])
  expect(await claim(store, tenant)).toBeNull()
})
