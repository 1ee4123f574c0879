import { randomUUID } from "node:crypto"
import { expect, test } from "vitest"
import { startTestServer, type TestServer } from "./server-fixture.ts"
import { jobs, knowTheProject, payload } from "./webhook-fixture.ts"

type Recorded = {
  file: string
  event: string
  host: string
  outcome: "queued" | "ignored" | "cancels" | "updates" | "no_job"
  reason: string | null
}
const recorded: Recorded[] = payload("index.json")

/** Whose pages show the newest delivery of a pull request. */
const shownTo = async (server: TestServer) => {
  const [row] = await server.context.store.sql`
    select project_id is not null as project, workspace_id is not null as workspace from webhook_deliveries
    where event = 'pull_request' order by received_at desc limit 1`
  return row
}
// R-INTAKE-5, B8
test.each(recorded)("answers the recorded $file as the product must: $outcome", async ({ file, event, host, outcome, reason }) => {
  const server = await startTestServer()
  const body = payload(file)
  await knowTheProject(server, body)
  if (outcome === "cancels") await server.deliver("pull_request", payload("pr.opened.json"))
  const before = await jobs(server)

  const answer = await server.deliver(event, body, host === "github.com" ? {} : { "x-github-enterprise-host": host })
  expect(answer.status).toBe(202)
  const verdict = (await answer.json()) as { outcome: string; reason: string | null }
  if (reason !== null) expect(verdict.reason).toBe(reason)
  if (outcome === "queued") expect(verdict.outcome).toBe(event === "issue_comment" ? "accepted" : "queued")
  else if (outcome === "cancels") expect(await jobs(server)).toMatchObject([{ state: "cancelled", code: "pull_request_closed" }])
  else expect(await jobs(server)).toEqual(before)
  if (outcome === "ignored") expect(verdict).toMatchObject({ outcome: "ignored", reason: expect.any(String) })
  if (event === "pull_request" && outcome === "queued") {
    expect(await jobs(server)).toMatchObject([{ state: "waiting", headSha: body.pull_request.head.sha }])
  }
})

// R-INTAKE-3
test("takes a repeated delivery id once, also when twenty copies come at the same time", async () => {
  const server = await startTestServer()
  const opened = payload("pr.opened.json")
  await knowTheProject(server, opened)
  const headers = { "x-github-delivery": randomUUID() }
  const answers = await Promise.all(Array.from({ length: 20 }, () => server.deliver("pull_request", opened, headers)))
  const outcomes = await Promise.all(answers.map(async (answer) => ((await answer.json()) as { outcome: string }).outcome))
  expect(answers.every((answer) => answer.status === 202)).toBe(true)
  expect(outcomes.filter((outcome) => outcome === "queued")).toHaveLength(1)
  expect(await jobs(server)).toHaveLength(1)
})

// R-INTAKE-4
test("tells GitHub to come again when the database is gone, and works again when it is back", async () => {
  const server = await startTestServer()
  const { sql } = server.context.store
  await sql`alter table webhook_deliveries rename to away`
  const answer = await server.deliver("ping", { zen: "z" })
  expect(answer.status).toBe(503)
  expect(await answer.json()).toMatchObject({ error: { code: "intake_store_unavailable" } })
  await sql`alter table away rename to webhook_deliveries`
  expect((await server.deliver("ping", { zen: "z" })).status).toBe(202)
})

// B10, R-INTAKE-14
test("leaves a repository of another installation alone", async () => {
  const server = await startTestServer()
  const opened = payload("pr.opened.json")
  await knowTheProject(server, opened)
  const stranger = await server.deliver("installation", {
    action: "created",
    installation: { id: 999, account: { login: "mallory", id: 9 } },
  })
  expect(stranger.status).toBe(202)
  const answer = await server.deliver("pull_request", { ...opened, installation: { id: 999 } })
  expect(await answer.json()).toMatchObject({ outcome: "ignored", reason: "unknown_repository" })
  expect(await jobs(server)).toEqual([])
  expect(await shownTo(server)).toEqual({ project: false, workspace: true })
})

// R-INTAKE-14
test("shows a delivery to its own project, and one of another host to nobody", async () => {
  const server = await startTestServer()
  const opened = payload("pr.opened.json")
  await knowTheProject(server, opened)
  await server.deliver("pull_request", opened, { "x-github-enterprise-host": "elsewhere.example" })
  expect(await shownTo(server)).toEqual({ project: false, workspace: false })
  await server.deliver("pull_request", opened)
  expect(await shownTo(server)).toEqual({ project: true, workspace: true })
})

test("takes a pull request whose title and description hold a NUL, which the database cannot store", async () => {
  const server = await startTestServer()
  const opened = payload("pr.opened.json")
  await knowTheProject(server, opened)
  const answer = await server.deliver("pull_request", {
    ...opened,
    pull_request: { ...opened.pull_request, title: "a\0b", body: "half a pair \ud83d" },
  })
  expect(await answer.json()).toMatchObject({ outcome: "queued" })
  expect(await server.context.store.sql`select title, description from pull_requests`).toEqual([
    { title: "ab", description: "half a pair \ufffd" },
  ])
})

test.each(["closed", "converted_to_draft"])("keeps the job of a pull request when a late %s comes after what undid it", async (action) => {
  const server = await startTestServer()
  const opened = payload("pr.opened.json")
  await knowTheProject(server, opened)
  const at = (updatedAt: string, over: object) => ({ ...opened.pull_request, ...over, updated_at: updatedAt })
  const later = at("2027-01-01T00:00:02Z", { state: "open", draft: false })
  const earlier = at("2027-01-01T00:00:01Z", action === "closed" ? { state: "closed" } : { draft: true })
  await server.deliver("pull_request", {
    ...opened,
    action: action === "closed" ? "reopened" : "ready_for_review",
    pull_request: later,
  })
  const answer = await server.deliver("pull_request", { ...opened, action, pull_request: earlier })
  expect(await answer.json()).toMatchObject({ outcome: "ignored", reason: "overtaken" })
  expect(await jobs(server)).toMatchObject([{ state: "waiting", code: null }])
})
