import { randomUUID } from "node:crypto"
import { openIntake } from "@galley/store/intake/take-delivery"
import { completeJob } from "@galley/store/queue/complete-job"
import { expect, test } from "vitest"
import { claimIn, countRows, fillQueue } from "./queue-load.ts"
import { claim, claimed, freshStore, pullRequestSnapshot, push, reviewed, seedTenant } from "./store-fixture.ts"

const anyWorkspace = { anyWorkspace: true }

// F41
test("gives a workspace's one job out next when a runner gets free, behind ten thousand of another one that keeps to its cap", async () => {
  const store = await freshStore()
  const crowd = await seedTenant(store, { maxRunningJobs: 3, sharedRunner: true })
  const single = await seedTenant(store, { maxRunningJobs: 3, sharedRunner: true })
  await fillQueue(store, crowd, 10_000)
  const running = [await claimed(store, crowd, anyWorkspace), await claimed(store, crowd, anyWorkspace)]
  const { jobId } = await push(store, single, 1)

  const [done] = running
  if (done === undefined) throw new Error("nothing runs")
  await completeJob(store, done, reviewed(done))
  expect(await claimed(store, crowd, anyWorkspace)).toMatchObject({ jobId })

  const more = [await claim(store, crowd, anyWorkspace), await claim(store, crowd, anyWorkspace), await claim(store, crowd, anyWorkspace)]
  expect(more.map((lease) => lease?.workspaceId)).toEqual([crowd.workspaceId, crowd.workspaceId, undefined])
})

// F42
test("takes deliveries and answers runners by a handful of rows while a hundred thousand jobs wait and nobody is free", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store, { maxRunningJobs: 2 })
  await fillQueue(store, tenant, 100_000)
  await claimed(store, tenant)
  await claimed(store, tenant)

  for (let turn = 1; turn <= 7; turn++) {
    const asked = await countRows(store, (sql) => claimIn(sql, tenant, ["diff", "dynamic"]))
    expect(asked.value).toBe(0)
    expect(asked.rows).toBeLessThan(20)
    for (const number of [50_000 + turn, 200_000 + turn]) {
      const delivery = {
        hostId: tenant.hostId,
        deliveryId: randomUUID(),
        event: "pull_request",
        action: "synchronize",
        githubInstallationId: tenant.installationId,
        githubRepositoryId: tenant.repositoryId,
        pullRequestNumber: number,
      }
      const pullRequest = pullRequestSnapshot(number, { updatedAt: new Date("2026-11-30T11:00:00Z") })
      const taken = await countRows(store, (sql) =>
        // All that the intake asks of its pool it may ask of one transaction.
        openIntake({ ...store, sql: sql as typeof store.sql }).take(delivery, () => ({
          step: { action: "enqueue", debounceMs: 0 },
          pullRequest,
        })),
      )
      expect(taken.value).toMatchObject({ outcome: "queued" })
      expect(taken.rows).toBeLessThan(20)
    }
  }
}, 120_000)
