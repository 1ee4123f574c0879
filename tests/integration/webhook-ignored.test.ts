import { expect, test } from "vitest"
import { startTestServer, type TestServer } from "./server-fixture.ts"
import { jobs, knowTheProject, payload, storedDeliveries } from "./webhook-fixture.ts"

const opened = payload("pr.opened.json")
const command = payload("comment.created.on-pr.review.json")
const commandWith = (changes: object) => ({ ...command, comment: { ...command.comment, ...changes } })

type Case = [what: string, event: string, body: object, reason: string, headers?: Record<string, string>]

/** Delivers each case and expects that it is stored with its reason and leads to nothing. */
async function expectIgnored(server: TestServer, cases: readonly Case[]): Promise<void> {
  const before = await storedDeliveries(server)
  for (const [what, event, body, reason, headers] of cases) {
    const answer = await server.deliver(event, body, headers)
    expect(answer.status, what).toBe(202)
    expect(await answer.json(), what).toEqual({ outcome: "ignored", reason })
  }
  expect(await storedDeliveries(server)).toBe(before + cases.length)
  expect(await jobs(server)).toEqual([])
  expect(await server.context.store.sql`select from pgboss.job where name in ('resolve-command-head', 'react-to-command')`).toHaveLength(0)
}

// B8
test("ignores events and actions that it does not use, with a reason", async () => {
  const server = await startTestServer()
  await knowTheProject(server, opened)
  await expectIgnored(server, [
    ["an event", "star", { action: "created" }, "event_not_used"],
    ["an event of the future", "quantum_review", { anything: [1] }, "event_not_used"],
    ["an action", "pull_request", { ...opened, action: "enqueued" }, "action_not_used"],
    ["no action in particular", "pull_request", { ...opened, action: "" }, "action_not_used"],
  ])
})

// B9
test("ignores a delivery of no, of an unknown and of a suspended installation", async () => {
  const server = await startTestServer()
  await knowTheProject(server, opened)
  await expectIgnored(server, [
    ["none", "pull_request", { ...opened, installation: undefined }, "no_installation"],
    ["an unknown one", "pull_request", { ...opened, installation: { id: 424_242 } }, "unknown_installation"],
  ])
  await server.context.store.sql`update installations set suspended_at = now()`
  await expectIgnored(server, [["a suspended one", "pull_request", opened, "installation_suspended"]])
})

// B11
test("starts nothing by what its own bot does", async () => {
  const server = await startTestServer()
  await knowTheProject(server, opened)
  await knowTheProject(server, command)
  const bot = { login: "galley-review[bot]", id: 5, type: "Bot" }
  await expectIgnored(server, [
    ["a command", "issue_comment", commandWith({ user: bot }), "command_from_bot"],
    ["a pull request", "pull_request", { ...opened, sender: bot, pull_request: { ...opened.pull_request, user: bot } }, "bot_author"],
    ["the edit of its comment", "issue_comment", { ...commandWith({ user: bot }), action: "edited" }, "action_not_used"],
  ])
})

// B12
test("takes no command from a stranger, an edit or a quotation", async () => {
  const server = await startTestServer()
  await knowTheProject(server, command)
  const ignored: [string, object, string][] = [
    ["a stranger", { author_association: "NONE" }, "commander_not_allowed"],
    ["somebody who contributed once, as from a fork", { author_association: "CONTRIBUTOR" }, "commander_not_allowed"],
    ["an association of the future", { author_association: "EMPEROR" }, "commander_not_allowed"],
    ["a quotation", { body: "> /review" }, "not_a_command"],
    ["a fenced block", { body: "```\n/review\n```" }, "not_a_command"],
    ["a command further down", { body: "please\n/review" }, "not_a_command"],
    ["another word", { body: "/reviewer" }, "not_a_command"],
  ]
  await expectIgnored(server, [
    ...ignored.map(([what, changes, reason]): Case => [what, "issue_comment", commandWith(changes), reason]),
    ["an edit", "issue_comment", { ...command, action: "edited" }, "action_not_used"],
    ["a deletion", "issue_comment", { ...command, action: "deleted" }, "action_not_used"],
  ])
})

// B12
test("passes nothing of a command on but who wrote it and where", async () => {
  const server = await startTestServer()
  await knowTheProject(server, command)
  const answer = await server.deliver("issue_comment", commandWith({ body: "/review --config.x=y\n/ask" }))
  expect(await answer.json()).toMatchObject({ outcome: "accepted", reason: "command" })
  const tasks = await server.context.store.sql<{ data: object }[]>`
    select data from pgboss.job where name in ('resolve-command-head', 'react-to-command')`
  expect(tasks).toHaveLength(2)
  for (const { data } of tasks) {
    expect(Object.keys(data).toSorted()).toEqual(["author", "commentId", "deliveryId", "number", "projectId", "workspaceId"])
    expect(JSON.stringify(data)).not.toMatch(/config|ask/)
  }
})

// B13
test("takes no command on an issue and on a closed pull request", async () => {
  const server = await startTestServer()
  await knowTheProject(server, command)
  const issue = payload("comment.created.plain-issue.review.json")
  await expectIgnored(server, [
    ["an issue", "issue_comment", { ...command, issue: issue.issue }, "not_a_pull_request"],
    ["a closed one", "issue_comment", { ...command, issue: { ...command.issue, state: "closed" } }, "closed"],
  ])
})

// B15
test("ignores a delivery of another host, and asks no host that a payload names", async () => {
  const server = await startTestServer()
  await knowTheProject(server, opened)
  const evil = "https://evil.example"
  await expectIgnored(server, [["another host", "pull_request", opened, "unknown_host", { "x-github-enterprise-host": "evil.example" }]])
  const named = JSON.parse(JSON.stringify(opened).replaceAll("https://api.github.com", evil).replaceAll("https://github.com", evil))
  expect(await (await server.deliver("pull_request", named)).json()).toMatchObject({ outcome: "queued" })
  const [kept] = await server.context.store.sql<[{ addresses: string }]>`
    select concat(p.web_url, p.git_url, q.web_url) as addresses from pull_requests q join projects p on p.id = q.project_id`
  expect(kept.addresses).not.toContain("evil.example")
})
