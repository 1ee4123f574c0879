import { randomUUID } from "node:crypto"
import { openLeaseDesk } from "@galley/server/lease-desk"
import { claimJobs } from "@galley/store/queue/claim-jobs"
import { completeJob } from "@galley/store/queue/complete-job"
import { expect, onTestFinished, test } from "vitest"
import { bothKinds, claim, claimed, freshStore, push, readJob, reviewed, seedTenant, sha, type Tenant } from "./store-fixture.ts"

// R-KIND-2
test("leases a waiting job with everything the runner needs", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const { jobId } = await push(store, tenant, 7)

  const lease = await claimed(store, tenant)

  expect(lease).toMatchObject({
    jobId,
    kind: "diff",
    fence: 1,
    attempt: 1,
    workspaceId: tenant.workspaceId,
    headSha: sha("a1"),
    project: { name: "demo", settings: { active: true, maxFindings: 10 }, githubRepositoryId: tenant.repositoryId },
    installation: { hostId: tenant.hostId, githubInstallationId: tenant.installationId },
    pullRequest: { number: 7, author: "octocat" },
    lastReviewedSha: null,
    publishedState: null,
    usageSoFar: { modelCalls: 0 },
  })
  expect(await readJob(store, jobId)).toMatchObject({ state: "running" })
})

// R-QUEUE-3
test("gives a runner only kinds it proved", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store, { settings: { reviewKind: "dynamic" } })
  await push(store, tenant, 1)

  expect(await claim(store, tenant, { kinds: ["diff"] })).toBeNull()
  expect(await claim(store, tenant, { kinds: ["dynamic"] })).not.toBeNull()
})

test("gives a workspace's runner nothing of another workspace", async () => {
  const store = await freshStore()
  const [owner, stranger] = [await seedTenant(store), await seedTenant(store)]
  await push(store, owner, 1)

  expect(await claim(store, stranger)).toBeNull()
  expect(await claim(store, stranger, { anyWorkspace: true })).not.toBeNull()
})

test("never leases a job before it is due", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  await push(store, tenant, 1, { wanted: { debounceMs: 60_000 } })

  expect(await claim(store, tenant)).toBeNull()
})

// R-QUEUE-4
test("takes urgent jobs first and then the oldest", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const first = await push(store, tenant, 1)
  const second = await push(store, tenant, 2)
  const urgent = await push(store, tenant, 3, { wanted: { priority: 10 } })

  const order = [await claimed(store, tenant), await claimed(store, tenant), await claimed(store, tenant)].map((lease) => lease.jobId)

  expect(order).toEqual([urgent.jobId, first.jobId, second.jobId])
})

// F13
test("works on one job of a pull request at a time, across kinds and while its result is published", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  await push(store, tenant, 1)
  const running = await claimed(store, tenant)
  await push(store, tenant, 1, { wanted: { kind: "dynamic", headSha: sha("c3") } })

  expect(await claim(store, tenant)).toBeNull()
  await completeJob(store, running, reviewed(running))
  expect(await claim(store, tenant)).toBeNull()
})

test("passes over a busy pull request to the next one", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  await push(store, tenant, 1)
  await claimed(store, tenant)
  await push(store, tenant, 1, { wanted: { headSha: sha("c3") } })
  const next = await push(store, tenant, 2)

  expect((await claimed(store, tenant)).jobId).toBe(next.jobId)
})

// F41, R-QUEUE-4
test("holds a workspace to its cap exactly when two servers claim for many runners at once", async () => {
  const store = await freshStore()
  const other = await freshStore(store.url)
  const tenant = await seedTenant(store, { maxRunningJobs: 3 })
  for (let number = 1; number <= 20; number++) await push(store, tenant, number)
  const requests = () =>
    Array.from({ length: 4 }, () => ({ requestId: randomUUID(), runnerId: tenant.runnerId, workspaceId: null, kinds: bothKinds }))

  const leases = await Promise.all(Array.from({ length: 10 }, (_, i) => claimJobs(i % 2 ? store : other, requests())))

  expect(leases.flat()).toHaveLength(3)
})

// F13
test("never leases one job twice when two servers race", async () => {
  const store = await freshStore()
  const other = await freshStore(store.url)
  const tenant = await seedTenant(store, { maxRunningJobs: 1000 })
  const jobs = new Set<string>()
  for (let number = 1; number <= 40; number++) jobs.add((await push(store, tenant, number)).jobId)

  const leases = await Promise.all(Array.from({ length: 60 }, (_, i) => claim(i % 2 ? store : other, tenant)))
  const leased = leases.flatMap((lease) => (lease ? [lease.jobId] : []))

  expect(leased.toSorted()).toEqual([...jobs].toSorted())
})

// F41, R-QUEUE-4
test("rotates between workspaces, so that one job is not stuck behind another workspace's hundred", async () => {
  const store = await freshStore()
  const busy = await seedTenant(store, { maxRunningJobs: 1000, sharedRunner: true })
  const small = await seedTenant(store, { maxRunningJobs: 1000, sharedRunner: true })
  for (let number = 1; number <= 100; number++) await push(store, busy, number)
  await claimed(store, busy, { anyWorkspace: true })
  const { jobId } = await push(store, small, 1)

  const next = [await claimed(store, busy, { anyWorkspace: true }), await claimed(store, busy, { anyWorkspace: true })]

  expect(next.map((lease) => lease.workspaceId)).toEqual([small.workspaceId, busy.workspaceId])
  expect(next[0]?.jobId).toBe(jobId)
})

test("lets workspaces take turns among runners that are served together", async () => {
  const store = await freshStore()
  const tenants: Tenant[] = []
  for (let n = 0; n < 3; n++) tenants.push(await seedTenant(store, { maxRunningJobs: 1000, sharedRunner: true }))
  for (const tenant of tenants) for (let number = 1; number <= 6; number++) await push(store, tenant, number)
  const runnerId = tenants[0]?.runnerId ?? ""
  const serve = async (runners: number) => {
    const requests = Array.from({ length: runners }, () => ({ requestId: randomUUID(), runnerId, workspaceId: null, kinds: bothKinds }))
    return (await claimJobs(store, requests)).map((lease) => lease.workspaceId)
  }
  const timesServed = (leases: string[]) => tenants.map(({ workspaceId }) => leases.filter((its) => its === workspaceId).length).toSorted()

  const first = await serve(1)
  const second = await serve(4)
  const third = await serve(7)

  expect(timesServed([...first, ...second])).toEqual([1, 2, 2])
  expect(timesServed([...first, ...second, ...third])).toEqual([4, 4, 4])
})

test("serves a workspace below its cap while another is at its cap", async () => {
  const store = await freshStore()
  const full = await seedTenant(store, { maxRunningJobs: 1, sharedRunner: true })
  const free = await seedTenant(store, { sharedRunner: true })
  await push(store, full, 1)
  await claimed(store, full)
  await push(store, full, 2)
  await push(store, free, 1)

  const leases = [await claim(store, full, { anyWorkspace: true }), await claim(store, full, { anyWorkspace: true })]

  expect(leases.map((lease) => lease?.workspaceId)).toEqual([free.workspaceId, undefined])
})

// F12, R-QUEUE-6
test("answers a repeated request with the same lease and token, on any server", async () => {
  const store = await freshStore()
  const other = await freshStore(store.url)
  const tenant = await seedTenant(store)
  await push(store, tenant, 1)
  await push(store, tenant, 2)
  const requestId = randomUUID()

  const lease = await claimed(store, tenant, { requestId })
  const again = await claimed(other, tenant, { requestId })

  expect(again).toEqual(lease)
})

test("gives a request that comes twice at the same time one lease, and others theirs", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  for (const number of [1, 2, 3]) await push(store, tenant, number)
  const request = () => ({ requestId: randomUUID(), runnerId: tenant.runnerId, workspaceId: tenant.workspaceId, kinds: bothKinds })
  const [twin, other] = [request(), request()]
  const leases = await claimJobs(store, [twin, twin, other])
  expect(leases.map(({ requestId }) => requestId).toSorted()).toEqual([twin.requestId, other.requestId].toSorted())
})

test("answers a waiting request of another runner with the same id nothing, in the same claim", async () => {
  const store = await freshStore()
  const [tenant, stranger] = [await seedTenant(store), await seedTenant(store)]
  await push(store, tenant, 1)
  const desk = await openLeaseDesk({ store })
  onTestFinished(() => desk.close())
  const requestId = randomUUID()
  const ask = ({ runnerId, workspaceId }: Tenant) =>
    desk.wait({ requestId, runnerId, workspaceId, kinds: bothKinds }, 300, new AbortController().signal)
  expect(await Promise.all([ask(stranger), ask(tenant)])).toEqual([null, expect.objectContaining({ runnerId: tenant.runnerId })])
})

test("gives a request id of another runner, or of a lease that ended, nothing", async () => {
  const store = await freshStore()
  const [tenant, other] = [await seedTenant(store), await seedTenant(store)]
  await push(store, tenant, 1)
  await push(store, tenant, 2)
  const requestId = randomUUID()
  const lease = await claimed(store, tenant, { requestId })

  expect(await claim(store, other, { requestId, anyWorkspace: true })).toBeNull()
  await completeJob(store, lease, reviewed(lease))
  expect(await claim(store, tenant, { requestId })).toBeNull()
})

test("raises the fence of the pull request with every lease", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  await push(store, tenant, 1)
  const first = await claimed(store, tenant)
  await store.sql`update review_jobs set state = 'failed', finished_at = now(), lease_token_hash = null, lease_expires_at = null`
  await push(store, tenant, 1)

  expect((await claimed(store, tenant)).fence).toBeGreaterThan(first.fence)
})

test("claims while an intake transaction holds the pull request, by passing over it", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const held = await push(store, tenant, 1)
  const free = await push(store, tenant, 2)

  await store.sql.begin(async (tx) => {
    await tx`select id from pull_requests where id = ${held.pullRequestId} for update`
    expect((await claimed(store, tenant)).jobId).toBe(free.jobId)
    expect(await claim(store, tenant)).toBeNull()
  })
  expect((await claimed(store, tenant)).jobId).toBe(held.jobId)
})
