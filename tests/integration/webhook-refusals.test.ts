import { connect } from "node:net"
import { serve } from "@hono/node-server"
import { expect, onTestFinished, test } from "vitest"
import { startTestServer, type TestServer } from "./server-fixture.ts"
import { type Body, jobs, knowTheProject, payload, send, sign, signedHeaders, storedDeliveries } from "./webhook-fixture.ts"

type Case = [what: string, body: Body, headers: Record<string, string | undefined>]

/** Sends each case and expects the same refusal of all, with nothing stored. */
async function expectRefused(server: TestServer, cases: readonly Case[], status: number, code: string): Promise<void> {
  const before = await storedDeliveries(server)
  for (const [what, body, headers] of cases) expect(await send(server, body, headers), what).toEqual({ status, code })
  expect(await storedDeliveries(server)).toBe(before)
}

const ping = JSON.stringify({ zen: "é🚀" })
const signature = (value: string | undefined) => ({ "x-hub-signature-256": value })

// B1, R-INTAKE-1
test("refuses what is not signed with the secret, before it is read", async () => {
  const server = await startTestServer()
  const unsigned: Case[] = [
    ["no signature", ping, signature(undefined)],
    ["an empty one", ping, signature("")],
    ["SHA-1 alone", ping, { ...signature(undefined), "x-hub-signature": sign(ping, "sha1") }],
    ["a SHA-1 digest as SHA-256", ping, signature(sign(ping, "sha1").replace("sha1", "sha256"))],
    ["another secret", ping, signature(sign(ping, "sha256", "another secret"))],
    ["a cut digest", ping, signature(sign(ping).slice(0, -1))],
    ["an upper-case digest", ping, signature(sign(ping).toUpperCase().replace("SHA256", "sha256"))],
    ["a body that is no JSON either", "{", signature(sign(ping))],
  ]
  await expectRefused(server, unsigned, 401, "webhook_signature_invalid")
})

// B2
test("refuses a signature of other bytes, whatever they mean", async () => {
  const server = await startTestServer()
  const others: Case[] = [
    ["one byte more", `${ping} `, signature(sign(ping))],
    ["the same JSON written anew", JSON.stringify(JSON.parse(ping), null, 2), signature(sign(ping))],
    ["a byte order mark", `\ufeff${ping}`, signature(sign(ping))],
    ["a line end", `${ping}\r\n`, signature(sign(ping))],
  ]
  await expectRefused(server, others, 401, "webhook_signature_invalid")
})

// B3, R-INTAKE-2
test("refuses a body over GitHub's limit before reading all of it", async () => {
  const server = await startTestServer()
  let pulled = 0
  const endless = () =>
    new ReadableStream({
      pull(controller) {
        pulled++
        controller.enqueue(new Uint8Array(1024 * 1024))
      },
    })
  for (const [length, most] of [
    [undefined, 40],
    ["25000001", 2],
  ] as const) {
    pulled = 0
    const headers = signedHeaders("", { "content-length": length })
    const init = { method: "POST", body: endless(), duplex: "half", headers }
    const answer = await server.app.request("/webhooks/github", init as RequestInit)
    expect([answer.status, answer.headers.get("connection")]).toEqual([413, "close"])
    expect(await answer.json()).toMatchObject({ error: { code: "webhook_too_large" } })
    expect(pulled).toBeLessThan(most)
  }
})

// B4
test.each([
  ["of a declared length", "content-length: 1000\r\n\r\n", "x"],
  ["of chunks", "transfer-encoding: chunked\r\n\r\n", "1\r\nx\r\n"],
])("gives up a body %s that comes byte by byte, and hangs up", async (_, head, drop) => {
  const server = await startTestServer({ GALLEY_WEBHOOK_BODY_SECONDS: "1" })
  const listener = serve({ fetch: server.app.fetch, hostname: "127.0.0.1", port: 0 })
  onTestFinished(() => new Promise<void>((done) => void listener.close(() => done())))
  await new Promise((resolve) => void listener.once("listening", resolve))
  const address = listener.address()
  if (address === null || typeof address === "string") throw new Error("the listener has no port")

  const socket = connect(address.port, "127.0.0.1")
  onTestFinished(() => void socket.destroy())
  let answer = ""
  const ended = new Promise<void>((resolve) => {
    socket.on("data", (bytes) => (answer += bytes))
    socket.on("close", resolve)
    // What is still dropped when the server has hung up.
    socket.on("error", resolve)
  })
  socket.write(`POST /webhooks/github HTTP/1.1\r\nhost: galley\r\ncontent-type: application/json\r\n${head}`)
  const dripping = setInterval(() => socket.write(drop), 100)
  onTestFinished(() => clearInterval(dripping))
  await ended

  expect(answer).toMatch(/^HTTP\/1\.1 408 /)
  expect(answer).toContain("webhook_timeout")
})

// B5
test("refuses a form and says how to mend that", async () => {
  const server = await startTestServer()
  const form = `payload=${encodeURIComponent(ping)}`
  const cases: Case[] = [
    ["a form", form, { "content-type": "application/x-www-form-urlencoded" }],
    ["JSON that is called a form", ping, { "content-type": "application/x-www-form-urlencoded" }],
    ["no content type", ping, { "content-type": undefined }],
  ]
  await expectRefused(server, cases, 415, "webhook_content_type")
})

const event = (name: string) => ({ "x-github-event": name })
const opened = payload("pr.opened.json")
const openedWith = (changes: object) => ({ ...opened, ...changes })
const pullWith = (changes: object) => JSON.stringify(openedWith({ pull_request: { ...opened.pull_request, ...changes } }))
const headWith = (changes: object) => pullWith({ head: { ...opened.pull_request.head, ...changes } })

// B6
test("refuses what is no JSON of an event", async () => {
  const server = await startTestServer()
  const deep = 100_000
  const cases: Case[] = [
    ["half a text", "{", {}],
    ["nothing", "", {}],
    ["bytes that are no UTF-8", Uint8Array.of(0x22, 0xff, 0x22), {}],
    ["a list", "[]", event("pull_request")],
    ["null", "null", event("pull_request")],
    ["a text", '"opened"', event("pull_request")],
    ["a list in a list, and so on", "[".repeat(deep) + "]".repeat(deep), event("pull_request")],
    ["an object in an object, and so on", `${'{"pull_request":'.repeat(deep)}1${"}".repeat(deep)}`, event("pull_request")],
    ["a payload as the prototype of one", `{"__proto__":${JSON.stringify(opened)}}`, event("pull_request")],
  ]
  await expectRefused(server, cases, 400, "webhook_payload_invalid")
  expect(Object.hasOwn(Object.prototype, "pull_request")).toBe(false)
})

// B6
test("takes an event whose unused fields are odd, and the last of two values of a name", async () => {
  const server = await startTestServer()
  await knowTheProject(server, opened)
  const text = JSON.stringify(opened)
  const odd = [
    text.replace("{", `{"extra":${"[".repeat(100_000)}${"]".repeat(100_000)},`),
    text.replace("{", '{"__proto__":{"action":"labeled"},'),
    text.replace("{", '{"action":"labeled",'),
  ]
  for (const body of odd) expect(await send(server, body, event("pull_request"))).toEqual({ status: 202, code: null })
  expect(await jobs(server)).toMatchObject([{ state: "waiting", headSha: opened.pull_request.head.sha }])
})

// B7
test("refuses a delivery without a usable id or event", async () => {
  const server = await startTestServer()
  const id = (value: string | undefined) => ({ "x-github-delivery": value })
  const ids: Case[] = [
    ["no id", ping, id(undefined)],
    ["an empty id", ping, id("")],
    ["no UUID", ping, id("1; drop table")],
    ["an id of 10 kB", ping, id("a".repeat(10_240))],
  ]
  await expectRefused(server, ids, 400, "webhook_delivery_id_invalid")
  const events: Case[] = [
    ["no event", ping, { "x-github-event": undefined }],
    ["an event of 10 kB", ping, event("a".repeat(10_240))],
    ["an event that is no word", ping, event("pull request")],
  ]
  await expectRefused(server, events, 400, "webhook_event_missing")
})

// B14
test("refuses a commit that is no commit id", async () => {
  const server = await startTestServer()
  await knowTheProject(server, opened)
  const shas = ["--upload-pack=touch SENTINEL", "-u", "refs/../x", "HEAD", "a".repeat(39), "a".repeat(41), "A".repeat(40), ""]
  const base = (sha: string) => pullWith({ base: { ...opened.pull_request.base, sha } })
  const cases = shas.flatMap((sha): Case[] => [
    [`head ${sha}`, headWith({ sha }), event("pull_request")],
    [`base ${sha}`, base(sha), event("pull_request")],
  ])
  await expectRefused(server, cases, 400, "webhook_payload_invalid")
})

// B14
test("takes a branch name for nothing but text: commits are fetched by their ids", async () => {
  const server = await startTestServer()
  await knowTheProject(server, opened)
  const ref = "--upload-pack=touch SENTINEL"
  expect(await send(server, headWith({ ref }), event("pull_request"))).toEqual({ status: 202, code: null })
  expect(await server.context.store.sql`select head_ref as ref from pull_requests`).toEqual([{ ref }])
})

test("refuses at once what can never be stored, instead of having it sent again", async () => {
  const server = await startTestServer()
  await knowTheProject(server, opened)
  const installation = { id: 1, account: { login: "acme", id: 1 } }
  const installed = (changes: object) => JSON.stringify({ action: "created", installation: { ...installation, ...changes } })
  const comment = payload("comment.created.on-pr.review.json")
  const half = "\ud83d"
  const cases: Case[] = [
    ["a head branch with NUL", headWith({ ref: "a\0b" }), event("pull_request")],
    ["a head branch with half a pair", headWith({ ref: half }), event("pull_request")],
    ["a base branch with NUL", pullWith({ base: { ...opened.pull_request.base, ref: "a\0b" } }), event("pull_request")],
    ["an author with NUL", pullWith({ user: { login: "a\0b" } }), event("pull_request")],
    ["a number of 2^31", pullWith({ number: 2 ** 31 }), event("pull_request")],
    ["a number of 2^40", pullWith({ number: 2 ** 40 }), event("pull_request")],
    ["a number below 1", pullWith({ number: 0 }), event("pull_request")],
    ["the year 0", pullWith({ updated_at: "0000-01-01T00:00:00Z" }), event("pull_request")],
    ["no time", pullWith({ updated_at: "yesterday" }), event("pull_request")],
    ["an action with NUL", JSON.stringify(openedWith({ action: "a\0b" })), event("pull_request")],
    ["a repository with NUL", JSON.stringify(openedWith({ repository: { ...opened.repository, name: "a\0b" } })), event("pull_request")],
    ["a repository of 2^60", JSON.stringify(openedWith({ repository: { ...opened.repository, id: 2 ** 60 } })), event("pull_request")],
    ["an installation of 2^60", JSON.stringify(openedWith({ installation: { id: 2 ** 60 } })), event("pull_request")],
    ["a comment on number 2^40", JSON.stringify({ ...comment, issue: { ...comment.issue, number: 2 ** 40 } }), event("issue_comment")],
    [
      "a commander with NUL",
      JSON.stringify({ ...comment, comment: { ...comment.comment, user: { login: "\0", id: 1 } } }),
      event("issue_comment"),
    ],
    ["an account with NUL", installed({ account: { login: "a\0b", id: 1 } }), event("installation")],
    ["a permission with NUL", installed({ permissions: { "a\0b": "read" } }), event("installation")],
    ["a time without end", installed({ updated_at: 1e300 }), event("installation")],
    ["an unused event's action with NUL", JSON.stringify({ action: "a\0b" }), event("star")],
  ]
  await expectRefused(server, cases, 400, "webhook_payload_invalid")
})
