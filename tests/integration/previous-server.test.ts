// R-DATA-2: the SQL functions as a server of the previous version calls them.

import { randomUUID } from "node:crypto"
import { pullRequestRow } from "@galley/store/intake/upsert-pull-request"
import { hashToken } from "@galley/store/queue/lease-token"
import { expect, test, vi } from "vitest"
import { claimed, freshStore, pullRequestSnapshot, push, seedTenant, sha } from "./store-fixture.ts"

const wantedJob = () => ({
  id: randomUUID(),
  cause: "event",
  review_kind: "diff",
  head_sha: sha("a1"),
  base_sha: sha("b0"),
  head_updated_at: "2026-11-30T10:00:00Z",
  priority: 0,
  debounce_ms: 0,
})

test.each(["take_deliveries", "take_ordered_deliveries"])("takes a delivery as earlier versions ask for it, by %s", async (verb) => {
  const { sql, ...store } = await freshStore()
  const tenant = await seedTenant({ sql, ...store })
  const at = { workspace_id: tenant.workspaceId, project_id: tenant.projectId }
  const [{ seen }] = await sql<[{ seen: string }]>`
    select concat(i.xmin, ' ', p.xmin) as seen from projects p join installations i on i.id = p.installation_id where p.id = ${tenant.projectId}`
  const item = {
    place: 0,
    host_id: tenant.hostId,
    delivery_id: randomUUID(),
    event: "pull_request",
    action: "opened",
    ...at,
    pull_request_number: 1,
    github_installation_id: tenant.installationId,
    github_repository_id: tenant.repositoryId,
    seen,
    step: "enqueue",
    reason: null,
    pull: pullRequestRow({ id: tenant.projectId, workspaceId: tenant.workspaceId }, pullRequestSnapshot(1)),
    job: { ...wantedJob(), ...at },
  }
  const take = () => sql`select outcome from ${sql(verb)}(${sql.json([item])})`

  expect([...(await take())]).toEqual([{ outcome: "queued" }])
  expect([...(await take())]).toEqual([{ outcome: "duplicate" }])
  expect(await sql`select from review_jobs where state = 'waiting'`).toHaveLength(1)
})

test("queues a review of a pull request that the previous version names by its id", async () => {
  const { sql, ...store } = await freshStore()
  const tenant = await seedTenant({ sql, ...store })
  const { jobId, pullRequestId } = await push({ sql, ...store }, tenant, 1)
  const wanted = { ...wantedJob(), workspace_id: tenant.workspaceId, project_id: tenant.projectId, pull_request_id: pullRequestId }

  const queued = await sql`select job_id, is_new from enqueue_reviews(${sql.json([wanted])})`

  expect([...queued]).toEqual([{ job_id: jobId, is_new: false }])
})

test("leases no job twice to runners of the previous version that name a kind twice", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store, { sharedRunner: true })
  for (const number of [1, 2]) await push(store, tenant, number)
  const requests = Array.from({ length: 3 }, () => ({
    requestId: randomUUID(),
    runId: randomUUID(),
    runnerId: tenant.runnerId,
    workspaceId: null,
    kinds: ["dynamic", "diff", "diff"],
    tokenHash: "00",
  }))

  const leases = await store.sql`select request_id from claim_review_jobs(${store.sql.json(requests)}, 60000)`

  expect(leases.map((lease) => lease.request_id)).toEqual([requests[0]?.requestId, requests[1]?.requestId])
  expect([...(await store.sql`select state, attempt from review_jobs`)]).toEqual(Array(2).fill({ state: "running", attempt: 1 }))
  expect([...(await store.sql`select kinds from claim_turns`)]).toEqual([{ kinds: "dynamic,diff" }])
})

test("locks results of the previous version, which come in any order, in one order", async () => {
  const store = await freshStore()
  const tenant = await seedTenant(store, { maxRunningJobs: 2 })
  for (const number of [1, 2]) await push(store, tenant, number)
  const leases = [await claimed(store, tenant), await claimed(store, tenant)].toSorted((a, b) => (a.leaseId < b.leaseId ? -1 : 1))
  const rows = leases.map(({ leaseId, runnerId, fence, leaseToken }) => ({
    ...{ leaseId, runnerId, fence, tokenHash: hashToken(leaseToken).toString("hex"), outcome: "skipped", code: "no_reviewable_files" },
    ...{ usage: {}, digest: "00", state: null, findings: [], coverage: {}, trace: {}, comment: null },
  }))
  const complete = (results: typeof rows) => store.sql`select answer from complete_reviews(${store.sql.json(results)})`
  const waiting = async () =>
    (await store.sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`).length
  const calls: ReturnType<typeof complete>[] = []
  await store.sql.begin(async (holder) => {
    await holder`select from review_jobs where run_id = ${leases[0]?.leaseId ?? ""} for update`
    calls.push(complete(rows).execute(), complete(rows.toReversed()).execute())
    await vi.waitFor(async () => expect(await waiting()).toBe(2), { timeout: 10_000 })
    // Nobody holds the second one while the first one is waited for.
    await store.sql`select from review_jobs where run_id = ${leases[1]?.leaseId ?? ""} for update nowait`
  })

  const answers = (await Promise.all(calls)).map((call) => call.map(({ answer }) => answer))
  expect(answers.flat().toSorted()).toEqual(["repeated", "repeated", "stored", "stored"])
})
