import { expect, test } from "vitest"
import { REPO, type ReviewServer, startReviewServer, stateAt, syncedAtStart } from "./review-fixture.ts"
import { leased } from "./runner-fixture.ts"

test("gives a lease everything but secrets: the job, effective settings, limits and no earlier state", async () => {
  const { server, lease } = await leased()
  const { baseSha, headSha } = server.change
  expect(lease).toMatchObject({
    fence: 1,
    attempt: 1,
    job: { kind: "diff", headSha, baseSha, previousHeadSha: null, pullRequest: { owner: "acme", repository: "shop", number: 1 } },
    settings: { skill: null, maxFindings: 10 },
    prior: { state: null, tampered: false },
    botLogin: "galley-review[bot]",
  })
  expect(lease.job.pullRequest.gitUrl).toBe(`${server.github.url}/${REPO}.git`)
  expect(JSON.stringify(lease)).not.toContain("model key")
})

// B19, R-FIND-8
test.each([
  ["another state", (body: string) => body.replace("a finding", "no finding")],
  ["no state", () => "gone"],
  ["a broken state", (body: string) => body.replace('{"findings"', '{"findings')],
])("restores the published state when somebody edited the comment to %s, and says so", async (_, edit) => {
  const server = await startReviewServer()
  await server.openPullRequest()
  await server.review()
  const [comment] = server.botComments()
  await server.github.editComment(comment?.id ?? 0, edit(comment?.body ?? ""), "mallory")
  await server.command()
  const lease = await server.lease()
  expect(lease.prior).toEqual({ state: stateAt(server.change.headSha), tampered: true })
})

test("gives the published state, undisturbed, with the next lease", async () => {
  const server = await startReviewServer()
  await server.openPullRequest()
  await server.review()
  await server.command()
  const lease = await server.lease()
  expect(lease.prior).toEqual({ state: stateAt(server.change.headSha), tampered: false })
  expect(lease.job.previousHeadSha).toBe(server.change.headSha)
})

// B16, R-FIND-7
test("fails a job whose earlier state nobody here published and nobody can read, and leaves the comment alone", async () => {
  const server = await startReviewServer()
  await server.openPullRequest()
  const body = "## Galley\n\n<!-- pr-agent:review:full -->\n\n<!-- pr-agent-review-state:v9\n{}\n-->\n"
  await server.github.writeComment({ repo: REPO, number: 1, author: "galley-review[bot]", body })
  expect(await server.poll()).toBeNull()
  expect(await server.job()).toMatchObject({ state: "failed", code: "finding_state_invalid" })
  expect(server.botComments().map((comment) => comment.body)).toEqual([body])
})

// report B31
test.each([
  ["was suspended", (server: ReviewServer) => server.github.suspendInstallation(7, true), "installation_suspended"],
  ["is gone", (server: ReviewServer) => server.github.deleteInstallation(7), "installation_gone"],
])("ends a job at its lease when the installation %s and no webhook said so", async (_, change, code) => {
  const server = await startReviewServer()
  await syncedAtStart(server)
  await server.openPullRequest()
  server.github.setWebhook({ url: null })
  await change(server)
  expect(await server.poll()).toBeNull()
  expect(await server.job()).toMatchObject({ state: "failed", code })
})

// R-PROTO-5
test("puts a job off while GitHub is down, longer each time, and counts no attempt", async () => {
  const server = await startReviewServer()
  const { sql } = server.context.store
  await server.openPullRequest()
  for (const waitMs of [15_000, 30_000, 60_000, 120_000]) {
    server.github.addFault({ method: "GET", path: "/repos/**", effect: { kind: "status", status: 502 } })
    expect(await server.poll({ waitMs: 5_000 })).toBeNull()
    const job = await server.job()
    expect(job).toMatchObject({ state: "waiting", failures: 0 })
    expect(job.waitMs).toBeGreaterThan(waitMs - 5_000)
    expect(job.waitMs).toBeLessThanOrEqual(waitMs)
    await sql`update review_jobs set run_after = now()`
  }
  expect(await server.lease()).toMatchObject({ attempt: 5 })
})

// R-PROTO-5
test("puts a job off for as long as a rate limit asks", async () => {
  const server = await startReviewServer()
  await server.openPullRequest()
  server.github.addFault({ method: "GET", path: "/repos/**", effect: { kind: "secondary_limit", retryAfterSeconds: 600 } })
  expect(await server.poll()).toBeNull()
  const job = await server.job()
  expect(job).toMatchObject({ state: "waiting", failures: 0 })
  expect(job.waitMs).toBeGreaterThan(590_000)
})
