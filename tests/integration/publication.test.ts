import { completeJob } from "@galley/store/queue/complete-job"
import { failPublication } from "@galley/store/queue/fail-publication"
import { finishPublication } from "@galley/store/queue/finish-publication"
import { type Publication, withPublication } from "@galley/store/queue/with-publication"
import { taskQueues } from "@galley/store/tasks"
import { expect, test } from "vitest"
import { claimed, freshStore, push, readJob, reviewed, seedTenant, sha, type Tenant } from "./store-fixture.ts"

type Store = Awaited<ReturnType<typeof freshStore>>
const digest = "ab".repeat(32)
const state = { schema_version: 1 as const, findings: [] }

/** A pull request whose review waits to be published. */
async function publishing(store: Store, tenant: Tenant) {
  const { jobId, pullRequestId } = await push(store, tenant, 1)
  const lease = await claimed(store, tenant)
  await completeJob(store, lease, reviewed(lease))
  return { jobId, pullRequestId, lease }
}

test("hands the stored comment with its place to the publisher", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const { jobId, lease } = await publishing(store, tenant)
  let seen: Publication | undefined

  const outcome = await withPublication(store, tenant.workspaceId, jobId, async (publication) => {
    seen = publication
  })

  expect(outcome).toBe("done")
  expect(seen).toMatchObject({
    comment: "a comment",
    state,
    fence: lease.fence,
    headSha: sha("a1"),
    number: 1,
    repository: "demo",
    githubInstallationId: tenant.installationId,
    githubRepositoryId: tenant.repositoryId,
    commentId: null,
  })
})

// R-COMMENT-4
test("lets one server at a time write the comment of a pull request", async () => {
  const store = await freshStore()
  const other = await freshStore(store.url)
  const tenant = await seedTenant(store)
  const { jobId } = await publishing(store, tenant)

  await withPublication(store, tenant.workspaceId, jobId, async () => {
    expect(await withPublication(other, tenant.workspaceId, jobId, async () => {})).toBe("busy")
  })
  expect(await withPublication(other, tenant.workspaceId, jobId, async () => {})).toBe("done")
})

test("frees the pull request when the publisher throws", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const { jobId } = await publishing(store, tenant)
  const broken = withPublication(store, tenant.workspaceId, jobId, async () => {
    throw new Error("the comment could not be written")
  })

  await expect(broken).rejects.toThrow("could not be written")
  expect(await readJob(store, jobId)).toMatchObject({ state: "publishing" })
  expect(await withPublication(store, tenant.workspaceId, jobId, async () => {})).toBe("done")
})

test("ends the job and remembers comment, head and state once the comment is written", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const { jobId, pullRequestId } = await publishing(store, tenant)
  await finishPublication(store, { workspaceId: tenant.workspaceId, jobId, commentId: 42, state, digest })

  expect(await readJob(store, jobId)).toMatchObject({ state: "succeeded" })
  expect(await withPublication(store, tenant.workspaceId, jobId, async () => {})).toBe("gone")
  await push(store, tenant, 1, { snapshot: { headSha: sha("a2"), updatedAt: new Date("2026-11-30T12:00:00Z") } })
  const published = { commentId: 42, lastReviewedSha: sha("a1"), publishedState: state, publishedDigest: digest }
  expect(await claimed(store, tenant)).toMatchObject({ pullRequest: { id: pullRequestId }, ...published })
})

// R-COMMENT-4
test("refuses to record a publication that a newer lease overtook", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const { jobId, lease } = await publishing(store, tenant)
  await store.sql`update pull_requests set published_fence = ${lease.fence + 1}, comment_id = 7`

  const finished = finishPublication(store, { workspaceId: tenant.workspaceId, jobId, commentId: 42, state, digest })

  await expect(finished).rejects.toMatchObject({ code: "publish_stale" })
  expect(await readJob(store, jobId)).toMatchObject({ state: "superseded", code: "publish_stale" })
  const [pullRequest] = await store.sql`select comment_id from pull_requests`
  expect(pullRequest).toEqual({ comment_id: 7 })
})

test("records a publication once", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const { jobId } = await publishing(store, tenant)
  const finish = () => finishPublication(store, { workspaceId: tenant.workspaceId, jobId, commentId: 42, state, digest })

  const outcomes = await Promise.allSettled([finish(), finish()])

  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"])
  expect(await readJob(store, jobId)).toMatchObject({ state: "succeeded" })
})

// R-COMMENT-5
test("keeps the result and the last good comment when a publication is given up", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store)
  const { jobId } = await publishing(store, tenant)
  await store.sql`update pull_requests set comment_id = 7`

  await failPublication(store, { workspaceId: tenant.workspaceId, jobId, code: "publish_locked", detail: "the pull request is locked" })

  expect(await readJob(store, jobId)).toMatchObject({ state: "failed", code: "publish_locked" })
  const [kept] = await store.sql`select comment, (select comment_id from pull_requests) as comment_id from review_results`
  expect(kept).toEqual({ comment: "a comment", comment_id: 7 })
})

test("publishes nothing of another workspace", async () => {
  const store = await freshStore()
  const [tenant, stranger] = [await seedTenant(store), await seedTenant(store)]
  const { jobId } = await publishing(store, tenant)

  expect(await withPublication(store, stranger.workspaceId, jobId, async () => {})).toBe("gone")
  await failPublication(store, { workspaceId: stranger.workspaceId, jobId, code: "publish_gone", detail: "" })
  expect(await readJob(store, jobId)).toMatchObject({ state: "publishing" })
})

// F33
test("gives a publication whose server was killed to another one within seconds", async () => {
  const store = await freshStore()
  const { jobId } = await publishing(store, await seedTenant(store))
  // Taken as a worker takes it, and then nothing more is heard of that worker.
  const [taken] = await store.boss.fetch(taskQueues.publishComment)
  expect(taken?.data).toMatchObject({ jobId })
  await expect
    .poll(() => store.boss.fetch(taskQueues.publishComment), { timeout: 25_000, interval: 500 })
    .toMatchObject([{ data: { jobId } }])
})
