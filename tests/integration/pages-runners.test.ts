import { Writable } from "node:stream"
import { RunnersAnswer } from "@galley/server/pages/shapes"
import { listAudit } from "@galley/store/audit/list-audit"
import type { Store } from "@galley/store/database"
import { authenticateRunner } from "@galley/store/runners/authenticate-runner"
import { registerRunner } from "@galley/store/runners/register-runner"
import { touchRunner } from "@galley/store/runners/touch-runner"
import { pino } from "pino"
import { expect, test } from "vitest"
import { member, type PagesTenant, seedPagesTenant, startPages } from "./pages-fixture.ts"
import { startTestServer } from "./server-fixture.ts"
import { claimed, makeDue, push, readJob } from "./store-fixture.ts"

const fleetOf = ({ base }: PagesTenant) => `${base}/runners`
const runnerOf = (tenant: PagesTenant) => `${fleetOf(tenant)}/${tenant.runnerId}`
const changes = { rotate: { overlapHours: "24" }, revoke: {}, pause: { note: "" }, resume: {}, remove: { confirm: "yes" } }
const eachChange = Object.entries(changes) as [keyof typeof changes, Record<string, string>][]

/** The token in the answer to a form that made one. */
async function tokenIn(answer: Response): Promise<string> {
  const html = await answer.text()
  const [token, ...more] = new Set(html.match(/galley_runner_[\w-]{43}/g))
  if (token === undefined || more.length > 0) throw new Error(`not exactly one token in:\n${html}`)
  return token
}

async function rowOf({ sql }: Store, runnerId: string) {
  const [row] = await sql<[{ paused: boolean; note: string; removed: boolean; hash: string; until: Date | null }]>`
    select paused, paused_note as note, removed_at is not null as removed, encode(token_hash, 'hex') as hash, previous_token_until as until
    from runners where id = ${runnerId}`
  return row
}

// R-FLEET-7
test("registers a runner and shows its token in this one answer, never again", async () => {
  const { server, tenant, owner } = await startPages()

  const answer = await owner.submit(fleetOf(tenant), { name: "  build-1 " })

  expect([answer.status, answer.headers.get("cache-control"), answer.headers.get("location")]).toEqual([200, "no-store", null])
  const token = await tokenIn(answer)
  const runner = await authenticateRunner(server.context.store, token)
  expect(runner).toMatchObject({ workspaceId: tenant.workspaceId, name: "build-1" })
  for (const path of [fleetOf(tenant), `${fleetOf(tenant)}/${runner.id}`]) {
    expect(await (await owner.get(path)).text()).not.toContain("galley_runner_")
  }
  const [entry] = await listAudit(server.context.store, tenant.workspaceId)
  expect(entry).toMatchObject({ action: "runner.register", subject: runner.id, actor: expect.stringMatching(/^owner-/) })
  expect(JSON.stringify(entry)).not.toContain(token)
})

// R-FLEET-7
test.each([
  ["", 422],
  ["x".repeat(101), 422],
  ["two\nlines", 422],
  ["taken", 409],
])("refuses the name '%s' beside its field, and keeps what was typed", async (name, status) => {
  const { tenant, owner } = await startPages()
  await owner.submit(fleetOf(tenant), { name: "taken" })

  const answer = await owner.submit(fleetOf(tenant), { name })

  expect(answer.status).toBe(status)
  const html = await answer.text()
  expect(html).toContain('aria-invalid="true" aria-describedby="name-problem name-hint"')
  expect(html).toContain('id="name-problem"')
  expect(html).not.toContain("galley_runner_")
})

// R-FLEET-7
test("makes no runner of a file that is sent as a name", async () => {
  const { server, tenant, owner } = await startPages()
  const form = new FormData()
  form.set("name", new File(["build-1"], "name.txt"))

  const answer = await owner.submit(fleetOf(tenant), form)

  expect(answer.status).toBe(422)
  expect(await server.context.store.sql`select from runners where workspace_id = ${tenant.workspaceId}`).toHaveLength(1)
})

// R-FLEET-1, R-FLEET-7
test("rotates a token without a break, and revokes the old one when asked to", async () => {
  const { server, tenant, owner } = await startPages()
  const { store } = server.context
  const old = await tokenIn(await owner.submit(fleetOf(tenant), { name: "build-1" }))
  const { id } = await authenticateRunner(store, old)
  const runner = `${fleetOf(tenant)}/${id}`

  const rotated = await tokenIn(await owner.submit(`${runner}/rotate`, { overlapHours: "1" }))

  expect(await authenticateRunner(store, old)).toMatchObject({ id, usesOldToken: true })
  expect(await authenticateRunner(store, rotated)).toMatchObject({ id, usesOldToken: false })
  const html = await (await owner.get(runner)).text()
  expect(html).toContain("nobody has used it since")
  expect(html).not.toContain("/rotate")
  expect((await owner.submit(`${runner}/rotate`, { overlapHours: "1" })).status).toBe(409)
  const revoked = await owner.submit(`${runner}/revoke`, {})
  expect(revoked.headers.get("location")).toBe(`${runner}?done=token-revoked`)
  await expect(authenticateRunner(store, old)).rejects.toMatchObject({ code: "runner_unauthorized" })
})

test.each(["", "-1", "169", "1.5", "soon"])("rotates nothing for an overlap of '%s' hours", async (overlapHours) => {
  const { server, tenant, owner } = await startPages()
  const before = await rowOf(server.context.store, tenant.runnerId)

  expect((await owner.submit(`${runnerOf(tenant)}/rotate`, { overlapHours })).status).toBe(422)
  expect((await owner.postJson(`${runnerOf(tenant)}/rotate`, { overlapHours: 24 })).status).toBe(422)

  expect(await rowOf(server.context.store, tenant.runnerId)).toEqual(before)
})

// R-FLEET-3, R-FLEET-7
test("pauses with a note that everybody in the workspace reads as text, and resumes", async () => {
  const { server, tenant, owner } = await startPages()
  const viewer = await member(server, tenant, "viewer")
  const note = "<script>alert(1)</script> & a new disk"

  const paused = await owner.submit(`${runnerOf(tenant)}/pause`, { note })

  expect(paused.headers.get("location")).toBe(`${runnerOf(tenant)}?done=runner-paused`)
  const html = await (await viewer.get(runnerOf(tenant))).text()
  expect(html).toMatch(/Paused by owner-\d+/)
  for (const shown of [html, await (await viewer.get(fleetOf(tenant))).text()]) {
    expect(shown).toContain("&lt;script&gt;alert(1)&lt;/script&gt; &amp; a new disk")
  }
  expect((await owner.submit(`${runnerOf(tenant)}/pause`, { note: "x".repeat(201) })).status).toBe(422)
  await owner.submit(`${runnerOf(tenant)}/resume`, {})
  expect(await rowOf(server.context.store, tenant.runnerId)).toMatchObject({ paused: false, note: "" })
})

// R-FLEET-4, R-FLEET-7
test("removes a runner only when that is confirmed, and gives its review back", async () => {
  const { server, tenant, owner } = await startPages()
  const { store } = server.context
  await push(store, tenant, 1)
  const lease = await claimed(store, tenant)
  expect(await (await owner.get(runnerOf(tenant))).text()).toContain(`/runs/${lease.leaseId}`)
  expect((await owner.submit(`${runnerOf(tenant)}/remove`, {})).status).toBe(422)
  expect(await rowOf(store, tenant.runnerId)).toMatchObject({ removed: false })

  const removed = await owner.submit(`${runnerOf(tenant)}/remove`, { confirm: "yes" })

  expect(removed.headers.get("location")).toBe(`${fleetOf(tenant)}?done=runner-removed`)
  expect(await readJob(store, lease.jobId)).toMatchObject({ state: "waiting", failures: 0 })
  expect((await owner.get(runnerOf(tenant))).status).toBe(404)
  expect(await (await owner.get(`${tenant.base}/runs/${lease.leaseId}`)).text()).toContain("The runner was removed")
})

// R-FLEET-2
test.each(["viewer", "member"] as const)("lets a %s see the runners and change none", async (role) => {
  const { server, tenant } = await startPages()
  const visitor = await member(server, tenant, role)
  const before = await rowOf(server.context.store, tenant.runnerId)

  for (const path of [fleetOf(tenant), runnerOf(tenant)]) {
    const answer = await visitor.get(path)
    expect([answer.status, (await answer.text()).includes(`action="${path}`)]).toEqual([200, false])
  }
  expect((await visitor.submit(fleetOf(tenant), { name: "mine" })).status).toBe(403)
  for (const [verb, fields] of eachChange) {
    expect([verb, (await visitor.submit(`${runnerOf(tenant)}/${verb}`, fields)).status]).toEqual([verb, 403])
  }
  expect(await rowOf(server.context.store, tenant.runnerId)).toEqual(before)
})

// R-FLEET-2
test("changes runners of one's own workspace alone, also under one's own address", async () => {
  const { server, tenant } = await startPages()
  const { store } = server.context
  const other = await seedPagesTenant(server)
  const admin = await member(server, tenant, "admin")
  const before = await rowOf(store, other.runnerId)

  for (const base of [fleetOf(tenant), fleetOf(other)]) {
    const foreign = `${base}/${other.runnerId}`
    expect((await admin.get(foreign)).status).toBe(404)
    for (const [verb, fields] of eachChange) {
      expect([verb, (await admin.submit(`${foreign}/${verb}`, fields)).status]).toEqual([verb, 404])
    }
  }
  expect((await admin.submit(fleetOf(other), { name: "mine" })).status).toBe(404)
  expect(await rowOf(store, other.runnerId)).toEqual(before)
  expect((await admin.submit(`${runnerOf(tenant)}/pause`, { note: "" })).status).toBe(303)
})

// R-FLEET-2
test("shows shared runners to every workspace and lets none change them", async () => {
  const { server, tenant, owner } = await startPages()
  const { store } = server.context
  const { runnerId } = await registerRunner(store, { workspaceId: null, name: "pool", actor: "test" })
  const before = await rowOf(store, runnerId)

  const html = await (await owner.get(`${fleetOf(tenant)}/${runnerId}`)).text()

  expect(html).toContain("Shared runners work for every workspace.")
  expect(html).not.toContain(`${runnerId}/`)
  for (const [verb, fields] of eachChange) {
    expect([verb, (await owner.submit(`${fleetOf(tenant)}/${runnerId}/${verb}`, fields)).status]).toEqual([verb, 403])
  }
  expect(await rowOf(store, runnerId)).toEqual(before)
})

// R-FLEET-2
test("pauses the environment's runner, and leaves its token to the environment", async () => {
  const server = await startTestServer({ GALLEY_PUBLIC_URL: "http://127.0.0.1:8080", GALLEY_WORKSPACE: "Acme" })
  const { store, workspaceId, hostId } = server.context
  const [runner] = await store.sql<[{ id: string }]>`select id from runners where workspace_id = ${workspaceId}`
  const owner = await member(server, { ...(await seedPagesTenant(server)), workspaceId, hostId }, "owner")
  const path = `/w/acme/runners/${runner.id}`

  const html = await (await owner.get(path)).text()

  expect(html).toContain("GALLEY_RUNNER_TOKEN")
  for (const verb of ["rotate", "remove"] as const) {
    expect(html).not.toContain(`${path}/${verb}`)
    expect((await owner.submit(`${path}/${verb}`, changes[verb])).status).toBe(403)
  }
  expect((await owner.submit(`${path}/pause`, { note: "a new disk" })).status).toBe(303)
})

// R-FLEET-7
test.each(["https://evil.example", ""])("refuses changes of runners that come from the origin '%s'", async (origin) => {
  const { server, tenant, owner } = await startPages()
  const before = await rowOf(server.context.store, tenant.runnerId)

  expect((await owner.submit(fleetOf(tenant), { name: "theirs" }, { origin })).status).toBe(403)
  for (const [verb, fields] of eachChange) {
    expect([verb, (await owner.submit(`${runnerOf(tenant)}/${verb}`, fields, { origin })).status]).toEqual([verb, 403])
  }

  expect(await rowOf(server.context.store, tenant.runnerId)).toEqual(before)
})

// R-FLEET-5
test("shows what a runner proved, until when it counts, and its version, on its page and in JSON", async () => {
  const { server, tenant, owner } = await startPages()
  const proof = { engineVersion: "pr-agent 0.48.0", boundary: "enforced" as const, checkedAt: "2026-11-30T10:00:00.000Z" }
  const capabilities = [
    { ...proof, kind: "diff" as const, expiresAt: "2126-11-30T10:30:00.000Z" },
    { ...proof, kind: "dynamic" as const, engineVersion: "opencode 1.18.34", expiresAt: "2026-11-30T10:30:00.000Z" },
  ]
  await touchRunner(server.context.store, { id: tenant.runnerId, usesOldToken: false }, { name: "host-1", version: "0.1.0", capabilities })

  const html = await (await owner.get(runnerOf(tenant))).text()
  const { runners } = RunnersAnswer.parse(await owner.getJson(fleetOf(tenant)))

  for (const shown of ["host-1", "0.1.0", "pr-agent 0.48.0", "2126-11-30 10:30 UTC", "opencode 1.18.34", "Ran out"]) {
    expect(html).toContain(shown)
  }
  expect(html).not.toContain("too old")
  expect(runners).toMatchObject([{ id: tenant.runnerId, shared: false, version: "0.1.0", capabilities, paused: null, running: 0 }])
  expect(await (await owner.get(fleetOf(tenant))).text()).toContain("<td>Diff Review</td>")
})

// R-FLEET-5, R-PAGE-6
test("leads from a job that nobody takes to the runners", async () => {
  const { server, tenant, owner } = await startPages()
  const { store } = server.context
  const { jobId } = await push(store, tenant, 1)
  await makeDue(store, jobId)
  await store.sql`update review_jobs set run_after = now() - interval '2 minutes'`

  const html = await (await owner.get(tenant.projectPath)).text()

  expect(html).toMatch(new RegExp(`No runner offers Diff Review\\.\\s*<a href="${fleetOf(tenant)}">`))
})

// R-FLEET-7, R-DATA-4
test("writes no token of a runner into the log", async () => {
  let written = ""
  const sink = new Writable({
    write(chunk, _, done) {
      written += String(chunk)
      done()
    },
  })
  const environment = { GALLEY_PUBLIC_URL: "http://127.0.0.1:8080" }
  const server = await startTestServer(environment, { log: pino({ level: "debug" }, sink) })
  const tenant = await seedPagesTenant(server)
  const owner = await member(server, tenant, "owner")

  const token = await tokenIn(await owner.submit(fleetOf(tenant), { name: "build-1" }))
  await server.runner("/leases", {}, { authorization: `Bearer ${token}` })
  await server.runner("/leases", {}, { authorization: `Bearer ${token}x` })
  await server.deliver("ping", { zen: token, hook_id: 1 })

  expect(written).toContain("delivery taken")
  expect(written).not.toContain(token)
})
