import { readFileSync } from "node:fs"
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest"
import { type FakeGitHub, type FakeGitHubOptions, startFakeGitHub } from "./fake-github.ts"
import { sendWebhook, signWebhook } from "./send-webhook.ts"
import { missingShapes } from "./testing/compare-shapes.ts"
import { appToken, ask, field, installationToken } from "./testing/test-client.ts"
import { createTestRepository, type TestRepository } from "./testing/test-repository.ts"
import { type Received, startWebhookReceiver, type WebhookReceiver } from "./testing/webhook-receiver.ts"

const secret = "a shared secret"
const name = { repo: "acme/shop", number: 1 }
let repository: TestRepository
let receiver: WebhookReceiver
let fake: FakeGitHub

beforeAll(async () => {
  repository = await createTestRepository()
})

afterAll(() => repository?.remove())

beforeEach(async () => {
  receiver = await startWebhookReceiver()
  fake = await startFakeGitHub({ webhook: { url: receiver.url, secret } })
})

afterEach(async () => {
  await Promise.all([fake?.close(), receiver?.close()])
})

const recorded = (file: string): unknown => JSON.parse(readFileSync(new URL(`../fixtures/webhooks/${file}.json`, import.meta.url), "utf8"))
const events = () => receiver.received.map(({ headers, payload }) => `${headers["x-github-event"]}.${payload.action}`)
const last = (): Received => {
  const received = receiver.received.at(-1)
  if (!received) throw new Error("no webhook came")
  return received
}
const register = (ownerType: "User" | "Organization" = "User") =>
  fake.registerRepository({ owner: "acme", ownerType, name: "shop", gitDirectory: repository.directory, installationId: 7 })
const open = (more = {}) =>
  fake.openPullRequest({ ...name, baseSha: repository.base, headRef: "feature", headSha: repository.headParent, body: "Why", ...more })

test("GitHub's documented signature comes out of the documented secret and payload", () => {
  const vector: unknown = JSON.parse(readFileSync(new URL("../fixtures/signature-vector.json", import.meta.url), "utf8"))
  expect(signWebhook(String(field(vector, "secret")), Buffer.from(String(field(vector, "payload"))))).toBe(field(vector, "signature"))
})

test("a webhook is compact JSON, signed over exactly those bytes, with GitHub's headers", async () => {
  await register()
  const { body, payload, headers } = last()
  expect(body.toString()).toBe(JSON.stringify(payload))
  expect(headers).toMatchObject({
    "content-type": "application/json",
    "x-hub-signature-256": signWebhook(secret, body),
    "x-hub-signature": expect.stringMatching(/^sha1=[0-9a-f]{40}$/),
    "x-github-event": "installation",
    "x-github-delivery": expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
    "x-github-hook-id": "1",
    "x-github-hook-installation-target-id": String(fake.state.app.id),
    "x-github-hook-installation-target-type": "integration",
    "user-agent": expect.stringMatching(/^GitHub-Hookshot\//),
    "x-github-enterprise-host": new URL(fake.url).host,
  })
})

test("as github.com the fake sends no enterprise header and names no enterprise", async () => {
  fake.setWebhook({ enterpriseHost: null })
  await register()
  expect(last().headers).not.toHaveProperty("x-github-enterprise-host")
  expect(last().payload).not.toHaveProperty("enterprise")
})

test("bytes are sent as they are, with the delivery id that was given", async () => {
  const answer = await sendWebhook({
    target: receiver.url,
    secret,
    event: "ping",
    payload: Buffer.from('{ "zen": 1 }'),
    deliveryId: "an-id",
  })
  expect(answer).toMatchObject({ statusCode: 202, deliveryId: "an-id", body: "noted" })
  expect(last().body.toString()).toBe('{ "zen": 1 }')
})

test("every step of a pull request sends its event", async () => {
  await register()
  await open()
  await fake.pushHead(name, repository.head)
  await fake.editPullRequest(name, { title: "Other" })
  await fake.setDraft(name, true)
  await fake.setDraft(name, false)
  await fake.lockPullRequest(name, true)
  await fake.closePullRequest(name)
  await fake.reopenPullRequest(name)
  expect(events()).toEqual([
    "installation.created",
    ...["opened", "synchronize", "edited", "converted_to_draft", "ready_for_review", "locked", "closed", "reopened"].map(
      (action) => `pull_request.${action}`,
    ),
  ])
})

test("a comment written over REST sends its event after the answer", async () => {
  await register()
  await open()
  await ask(fake.apiUrl, "POST", "/repos/acme/shop/issues/1/comments", {
    token: await installationToken(fake, 7),
    body: { body: "Review" },
  })
  await fake.idle()
  expect(last().payload).toMatchObject({ action: "created", sender: { type: "Bot" }, comment: { body: "Review" } })
})

test("no event comes from where the App is not installed or is suspended", async () => {
  await fake.registerRepository({ owner: "acme", name: "alone", gitDirectory: repository.directory })
  await fake.openPullRequest({ repo: "acme/alone", baseSha: repository.base, headRef: "feature", headSha: repository.head })
  expect(events()).toEqual([])
  await register()
  await fake.suspendInstallation(7, true)
  await open()
  expect(events()).toEqual(["installation.created", "installation.suspend"])
})

/** Recorded payload to the action whose webhook must have its shape. */
const shapes: Readonly<Record<string, () => Promise<unknown>>> = {
  "pr.opened": () => open(),
  "pr.opened.fork": () => open({ fork: { owner: "forker" } }),
  "pr.synchronize": async () => [await open(), await fake.pushHead(name, repository.head)],
  "pr.edited.body": async () => [await open(), await fake.editPullRequest(name, { body: "Because" })],
  "pr.closed": async () => [await open(), await fake.closePullRequest(name)],
  "pr.reopened": async () => [await open(), await fake.closePullRequest(name), await fake.reopenPullRequest(name)],
  "pr.ready_for_review": async () => [await open({ draft: true }), await fake.setDraft(name, false)],
  "pr.locked": async () => [await open(), await fake.lockPullRequest(name, true)],
  "comment.created.on-pr.review": async () => [await open(), await fake.writeComment({ ...name, body: "/review" })],
  "comment.edited.plain-issue": async () => {
    await open()
    await fake.editComment((await fake.writeComment({ ...name, body: "One" })).id, "Two", "octocat")
  },
  "comment.deleted.on-pr.review": async () => {
    await open()
    await fake.deleteComment((await fake.writeComment({ ...name, body: "/review" })).id, "octocat")
  },
  "installation.created": async () => undefined,
  "installation.suspend": () => fake.suspendInstallation(7, true),
  "installation.unsuspend": async () => [await fake.suspendInstallation(7, true), await fake.suspendInstallation(7, false)],
  "installation.deleted": () => fake.deleteInstallation(7),
  "installation_repositories.added": () =>
    fake.registerRepository({ owner: "acme", name: "more", gitDirectory: repository.directory, installationId: 7 }),
  "installation_repositories.removed": () => fake.removeRepository("acme/shop"),
  "repository.renamed": () => fake.renameRepository("acme/shop", "store"),
  "pr.opened.ghes35": () => open(),
  "comment.created.ghes35": async () => [await open(), await fake.writeComment({ ...name, body: "/review" })],
  "installation.created.ghes35": async () => undefined,
  "pr.opened.org": () => open(),
}

// R-FAKE-1
test.each(Object.entries(shapes))("%s has every field of the recorded payload, with its type", async (file, act) => {
  await register(["pr.opened.org", "repository.renamed"].includes(file) ? "Organization" : "User")
  await act()
  expect(missingShapes(recorded(file), last().payload)).toEqual([])
})

test("the comparison of shapes sees a missing field and another type", () => {
  expect(missingShapes({ a: { b: 1 }, c: [{ d: "x" }] }, { a: {}, c: [{ d: 1 }] })).toEqual([
    "a.b is missing",
    "c[].d is number, recorded string",
  ])
})

test("a failed delivery is listed and is sent again with the same id", async () => {
  receiver.status = 503
  await register()
  const token = appToken(fake)
  const failed = await ask(fake.apiUrl, "GET", "/app/hook/deliveries?status=failure", { token })
  expect(failed.body).toMatchObject([{ status_code: 503, event: "installation", action: "created", redelivery: false, installation_id: 7 }])
  receiver.status = 202
  const attempt = await ask(fake.apiUrl, "POST", `/app/hook/deliveries/${field(failed.body, 0, "id")}/attempts`, { token })
  expect(attempt.status).toBe(202)
  await fake.idle()
  expect(receiver.received.map(({ headers }) => headers["x-github-delivery"])).toEqual([
    field(failed.body, 0, "guid"),
    field(failed.body, 0, "guid"),
  ])
  expect(receiver.received[1]?.body.equals(receiver.received[0]?.body ?? Buffer.alloc(0))).toBe(true)
  const all = await ask(fake.apiUrl, "GET", "/app/hook/deliveries", { token })
  expect(all.body).toMatchObject([
    { status_code: 202, redelivery: true },
    { status_code: 503, redelivery: false },
  ])
})

test("deliveries are listed newest first and a cursor leads through them", async () => {
  await register()
  await open()
  await fake.closePullRequest(name)
  const first = await ask(fake.apiUrl, "GET", "/app/hook/deliveries?per_page=2", { token: appToken(fake) })
  const next = /<([^>]+)>; rel="next"/.exec(first.headers.get("link") ?? "")?.[1] ?? ""
  const second = await ask(next, "GET", "", { token: appToken(fake) })
  expect([first.body, second.body]).toMatchObject([[{ action: "closed" }, { action: "opened" }], [{ action: "created" }]])
  expect(second.headers.get("link")).toBeNull()
})

test("a receiver that is down is listed as 502", async () => {
  fake.setWebhook({ url: "http://127.0.0.1:9/none" })
  await register()
  expect(fake.deliveries()).toMatchObject([{ statusCode: 502, status: "failed to connect to host" }])
})

test("a dropped webhook is listed as failed and can be sent again, a lost one leaves nothing", async () => {
  await register()
  fake.dropWebhooks({ event: "pull_request" })
  fake.dropWebhooks({ event: "pull_request", listed: false })
  await open()
  await fake.pushHead(name, repository.head)
  expect(events()).toEqual(["installation.created"])
  expect(fake.deliveries().map(({ action, statusCode }) => [action, statusCode])).toEqual([
    ["created", 202],
    ["opened", 502],
  ])
  await fake.redeliver(fake.deliveries()[1]?.id ?? 0)
  expect(events()).toEqual(["installation.created", "pull_request.opened"])
})

test("closing does not wait for a receiver that never answers", async () => {
  const silent = await startFakeGitHub({ webhook: { url: `${fake.url}/silent`, secret } })
  fake.addFault({ effect: { kind: "hang" } })
  const registering = silent.registerInstallation({ account: "acme" })
  await vi.waitFor(async () => expect((await ask(`${fake.url}/_fake`, "GET", "/faults")).body).toEqual([]))
  await silent.close()
  await registering
  expect(silent.deliveries()).toMatchObject([{ statusCode: 502 }])
})

test("a carrier sends a webhook late, twice or not at all, under one delivery id", async () => {
  const ways: Parameters<NonNullable<FakeGitHubOptions["carry"]>>[1][] = []
  const carried = await startFakeGitHub({
    webhook: { url: receiver.url, secret },
    carry: async (_event, way) => {
      ways.push(way)
      return null
    },
  })
  try {
    await carried.registerInstallation({ account: "acme" })
    await carried.registerInstallation({ account: "initech" })
    expect([receiver.received, carried.deliveries()]).toEqual([[], []])
    const [first, second] = ways
    await first?.send()
    await first?.send()
    await second?.lose()
    const ids = receiver.received.map(({ headers }) => headers["x-github-delivery"])
    expect(ids).toEqual([ids[0], ids[0]])
    expect(carried.deliveries().map(({ statusCode }) => statusCode)).toEqual([202, 202, 502])
  } finally {
    await carried.close()
  }
})
