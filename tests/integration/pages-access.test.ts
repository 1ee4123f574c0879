import { createSession } from "@galley/store/sessions/create-session"
import { expect, test } from "vitest"
import { member, ORIGIN, type PagesTenant, seedPagesTenant, startPages, visitor } from "./pages-fixture.ts"
import { startTestServer } from "./server-fixture.ts"
import { claimed, push, readJob } from "./store-fixture.ts"

const readable = ({ base, projectPath, settingsPath, runnerId }: PagesTenant) => [
  `${base}/projects`,
  projectPath,
  settingsPath,
  `${projectPath}/pulls/1`,
  `${base}/runs`,
  `${base}/runners`,
  `${base}/runners/${runnerId}`,
]

// R-PAGE-1
test("sends strangers to the sign-in page, and back to where they wanted to go", async () => {
  const { server, tenant } = await startPages()
  const stranger = visitor(server, "galley_session=of-nobody")

  for (const path of readable(tenant)) {
    const answer = await stranger.get(path)
    expect([answer.status, answer.headers.get("location")]).toEqual([303, `/sign-in?next=${encodeURIComponent(path)}`])
    expect(await stranger.getJson(path)).toMatchObject({ error: { code: "sign_in_required" } })
  }
  expect((await stranger.postJson(tenant.settingsPath, { version: 1, changes: {} })).status).toBe(401)
})

test.each(["https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)"])(
  "never leads to %s after signing in",
  async (next) => {
    const server = await startTestServer({ GALLEY_DEMO_LOGIN: "1" })

    const answer = await visitor(server, null).submit("/sign-in/demo", { next })

    expect(answer.headers.get("location")).toBe("/")
  },
)

test("signs a browser out for good", async () => {
  const server = await startTestServer({ GALLEY_DEMO_LOGIN: "1", GALLEY_WORKSPACE: "Demo" })
  const signedIn = await visitor(server, null).submit("/sign-in/demo", { next: "/w/demo/runs" })
  expect(signedIn.headers.get("location")).toBe("/w/demo/runs")
  const demo = visitor(server, signedIn.headers.getSetCookie()[0]?.split(";")[0] ?? "")
  expect((await demo.get("/w/demo/runs")).status).toBe(200)

  const answer = await demo.submit("/sign-out", {})

  expect(answer.headers.getSetCookie()[0]).toMatch(/^galley_session=; Max-Age=0/)
  expect((await demo.get("/w/demo/runs")).status).toBe(303)
})

test("offers no demo login unless it is switched on", async () => {
  const { server } = await startPages()

  expect((await visitor(server, null).postJson("/sign-in/demo", {})).status).toBe(404)
  expect(await (await visitor(server, null).get("/sign-in")).text()).not.toContain("demo user")
})

test("keeps the session cookie to this host and to https where the server is reached by it", async () => {
  const server = await startTestServer({ GALLEY_PUBLIC_URL: "https://galley.example" })
  const tenant = await seedPagesTenant(server)
  const [user] = await server.context.store.sql<[{ id: string }]>`
    insert into users (id, host_id, github_user_id, login) values (gen_random_uuid(), ${tenant.hostId}, 5, 'octocat') returning id`
  await server.context.store.sql`
    insert into memberships (workspace_id, user_id, role) values (${tenant.workspaceId}, ${user.id}, 'viewer')`
  const id = await createSession(server.context.store, user.id)

  expect((await visitor(server, `__Host-galley_session=${id}`).get(`${tenant.base}/runs`)).status).toBe(200)
  expect((await visitor(server, `galley_session=${id}`).get(`${tenant.base}/runs`)).status).toBe(303)
  const out = await visitor(server, `__Host-galley_session=${id}`).submit("/sign-out", {}, { origin: "https://galley.example" })
  expect(out.headers.getSetCookie()[0]).toMatch(/^__Host-galley_session=; .*Secure/)
})

// R-PAGE-1
test("lets viewers read everything and change nothing", async () => {
  const { server, tenant } = await startPages()
  await push(server.context.store, tenant, 1)
  const viewer = await member(server, tenant, "viewer")

  for (const path of readable(tenant)) expect((await viewer.get(path)).status).toBe(200)
  const review = await viewer.postJson(`${tenant.projectPath}/pulls/1/review`, {})
  const settings = await viewer.submit(tenant.settingsPath, { version: "1" })
  expect([review.status, settings.status]).toEqual([403, 403])
  expect(await (await viewer.get(tenant.settingsPath)).text()).toContain("<fieldset disabled")
})

// R-PAGE-1
test("lets members review now, and only admins and owners change settings", async () => {
  const { server, tenant } = await startPages()
  await push(server.context.store, tenant, 1)
  const ordinary = await member(server, tenant, "member")
  const admin = await member(server, tenant, "admin")
  const save = { version: 1, changes: { maxFindings: 2 } }

  expect((await ordinary.postJson(`${tenant.projectPath}/pulls/1/review`, {})).status).toBe(202)
  expect(await (await ordinary.postJson(tenant.settingsPath, save)).json()).toMatchObject({ error: { code: "forbidden" } })
  expect((await ordinary.postJson(`${tenant.settingsPath}/reset-skill`, { version: 1 })).status).toBe(403)
  expect((await admin.postJson(tenant.settingsPath, save)).status).toBe(200)
})

// R-PAGE-1
test("shows nothing of a workspace to those who are no members, and nothing of it under another workspace's address", async () => {
  const { server, tenant, owner } = await startPages()
  const other = await seedPagesTenant(server)
  await push(server.context.store, other, 1)
  const { leaseId } = await claimed(server.context.store, other)

  const foreign = [
    ...readable(other),
    `${other.base}/runs/${leaseId}`,
    `${other.base}/runs/${leaseId}/events`,
    `/runs/${leaseId}`,
    `${tenant.base}/runs/${leaseId}`,
    `${tenant.base}/runs/${leaseId}/events`,
    `${tenant.base}/projects/${other.projectId}`,
    `${tenant.base}/projects/${other.projectId}/settings`,
    `${tenant.base}/projects/${other.projectId}/pulls/1`,
  ]
  for (const path of foreign) expect([path, (await owner.get(path)).status]).toEqual([path, 404])
  expect(await owner.getJson(`${tenant.base}/runs?project=${other.projectId}`)).toEqual({ runs: [] })
  const save = { version: 1, changes: { maxFindings: 2 } }
  for (const base of [tenant.base, other.base]) {
    const project = `${base}/projects/${other.projectId}`
    expect((await owner.postJson(`${project}/settings`, save)).status).toBe(404)
    expect((await owner.postJson(`${project}/settings/reset-skill`, { version: 1 })).status).toBe(404)
    expect((await owner.postJson(`${project}/pulls/1/review`, {})).status).toBe(404)
  }
})

test("answers 404 for ids and numbers that cannot be any", async () => {
  const { tenant, owner } = await startPages()

  const odd = ["projects/1", "projects/%27%3B--", `projects/${tenant.projectId}/pulls/0`, "runs/x", "nowhere"]
  for (const path of odd) expect([path, (await owner.get(`${tenant.base}/${path}`)).status]).toEqual([path, 404])
  expect((await owner.get("/w/%00/projects")).status).toBe(404)
})

test("leads to the projects of the only workspace, and lets those with several choose", async () => {
  const { server, tenant, owner } = await startPages()
  expect((await owner.get("/")).headers.get("location")).toBe(`${tenant.base}/projects`)

  const second = await seedPagesTenant(server)
  await seedPagesTenant(server)
  await server.context.store.sql`
    insert into memberships (workspace_id, user_id, role) select ${second.workspaceId}, user_id, 'viewer' from memberships
    where workspace_id = ${tenant.workspaceId}`

  expect((await owner.get("/")).headers.get("location")).toBe("/workspaces")
  const links = [...(await (await owner.get("/workspaces")).text()).matchAll(/href="\/w\/([^"]+)\/projects"/g)].map(([, slug]) => slug)
  expect(links.sort()).toEqual([tenant.slug, second.slug].sort())
})

test("lets members cancel a job of their workspace, and nobody else", async () => {
  const { server, tenant, owner } = await startPages()
  const { store } = server.context
  const other = await seedPagesTenant(server)
  const [mine, foreign] = [await push(store, tenant, 1), await push(store, other, 1)]
  const cancel = (jobId: string) => `${tenant.projectPath}/pulls/1/jobs/${jobId}/cancel`

  const viewer = await member(server, tenant, "viewer")
  expect((await viewer.submit(cancel(mine.jobId), {})).status).toBe(403)
  expect((await owner.submit(cancel(foreign.jobId), {})).status).toBe(404)
  const answer = await owner.submit(cancel(mine.jobId), {})

  expect(answer.headers.get("location")).toBe(`${tenant.projectPath}/pulls/1?done=cancelled`)
  expect(await readJob(store, mine.jobId)).toMatchObject({ state: "cancelled", code: "cancelled_by_user" })
  expect(await readJob(store, foreign.jobId)).toMatchObject({ state: "waiting" })
})

test("leads the link of a comment to the run's page", async () => {
  const { server, tenant, owner } = await startPages()
  await push(server.context.store, tenant, 1)
  const { leaseId } = await claimed(server.context.store, tenant)

  const answer = await owner.get(`/runs/${leaseId}`)

  expect(answer.headers.get("location")).toBe(`${tenant.base}/runs/${leaseId}`)
})

const foreignOrigins: [string, Record<string, string>][] = [
  ["another site", { origin: "https://evil.example" }],
  ["no page at all", { origin: "" }],
  ["another port", { origin: "http://127.0.0.1:9999" }],
]

// R-PAGE-2
test.each(foreignOrigins)("refuses changes that come from %s, as a form and as JSON", async (_, headers) => {
  const { server, tenant, owner } = await startPages()
  await push(server.context.store, tenant, 1)
  const review = `${tenant.projectPath}/pulls/1/review`

  const refused = [
    await owner.submit(review, {}, headers),
    await owner.postJson(review, {}, headers),
    await owner.submit("/sign-out", {}, headers),
  ]

  expect(refused.map(({ status }) => status)).toEqual([403, 403, 403])
  expect((await owner.submit(review, {}, { origin: ORIGIN })).status).toBe(303)
})

test("leaves webhooks and runners free of the rules for pages", async () => {
  const { server } = await startPages()

  const webhook = await server.deliver("ping", { zen: "x", hook_id: 1 })
  const runner = await server.runner("/leases", {}, { authorization: "Bearer wrong" })

  expect(webhook.status).toBe(202)
  expect(runner.status).toBe(401)
  expect(runner.headers.get("content-security-policy")).toBeNull()
})

// R-PAGE-2
test("forbids everything but its own scripts and styles, and tells browsers not to keep pages", async () => {
  const { tenant, owner } = await startPages()

  const answer = await owner.get(`${tenant.base}/projects`)

  const policy = answer.headers.get("content-security-policy") ?? ""
  const nonce = /script-src 'nonce-([^']+)'(?:;|$)/.exec(policy)?.[1]
  expect(nonce).toBeTypeOf("string")
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("frame-ancestors 'none'")
  expect(answer.headers.get("cache-control")).toBe("no-store")
  const html = await answer.text()
  const scripts = [...html.matchAll(/<script[^>]*>/g)].map(([tag]) => tag)
  expect(scripts.length).toBeGreaterThan(0)
  for (const tag of scripts) expect(tag).toMatch(new RegExp(`src="/assets/[^"]+" nonce="${nonce?.replaceAll("+", "\\+")}"`))
  expect(html).not.toMatch(/ style=| on[a-z]+=|<style/)
})

test("serves style and scripts under addresses that change with their content", async () => {
  const { server, tenant, owner } = await startPages()
  const html = await (await owner.get(`${tenant.base}/projects`)).text()
  const paths = [...html.matchAll(/(?:src|href)="(\/assets\/[0-9a-f]{12}\/[^"]+)"/g)].map(([, path = ""]) => path)

  expect(new Set(paths).size).toBe(5)
  for (const path of paths) {
    const answer = await visitor(server, null).get(path)
    expect([answer.status, answer.headers.get("cache-control")]).toEqual([200, "public, max-age=31536000, immutable"])
  }
  expect((await visitor(server, null).get("/assets/000000000000/pages.css")).status).toBe(404)
})
