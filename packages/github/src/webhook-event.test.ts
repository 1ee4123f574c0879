import { readdirSync, readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { parseWebhookEvent } from "./webhook-event.ts"

const directory = new URL("./fixtures/webhooks/", import.meta.url)
const payload = (file: string) => JSON.parse(readFileSync(new URL(file, directory), "utf8"))
const index: { file: string; event: string }[] = payload("index.json").payloads ?? payload("index.json")

test("knows every recorded payload", () => {
  const files = readdirSync(directory).filter((name) => name !== "index.json")
  expect(index.map((entry) => entry.file).sort()).toEqual(files.sort())
})

// R-INTAKE-6
test.each(index)("reads the recorded $file without refusing it", ({ file, event }) => {
  const parsed = parseWebhookEvent(event, payload(file))
  expect(parsed.action).toBe(payload(file).action ?? "")
  expect(parsed.installationId).toBe(payload(file).installation?.id ?? null)
})

test("reads head, base, author and time of a pull request", () => {
  const event = parseWebhookEvent("pull_request", payload("pr.opened.json"))
  expect(event.type === "pull_request" && event.pullRequest).toMatchObject({
    number: 2,
    headSha: "ec26c3e57ca3a959ca5aad62de7213c562f8c821",
    baseSha: "f95f852bd8fca8fcc58a9a2d6c842781e32a215e",
    updatedAt: "2019-05-15T15:20:33.000Z",
    author: "Codertocat",
    authorIsBot: false,
    draft: false,
    open: true,
  })
})

test("knows a bot author by its account type", () => {
  const event = parseWebhookEvent("pull_request", payload("pr.opened.dependabot.json"))
  expect(event.type === "pull_request" && event.pullRequest.authorIsBot).toBe(true)
})

test("tells a comment on a pull request from one on an issue", () => {
  const on = (file: string) => {
    const event = parseWebhookEvent("issue_comment", payload(file))
    return event.type === "comment" && event.onPullRequest
  }
  expect(on("comment.created.on-pr.review.json")).toBe(true)
  expect(on("comment.created.plain-issue.review.json")).toBe(false)
})

test("takes the comment author's association, not the pull request author's", () => {
  const event = parseWebhookEvent("issue_comment", payload("comment.created.on-pr.review.json"))
  expect(event.type === "comment" && event.authorAssociation).toBe("OWNER")
})

test("sees a changed base only in an edit of the base", () => {
  const edited = { ...payload("pr.opened.json"), action: "edited" }
  const changed = (changes: unknown) => {
    const event = parseWebhookEvent("pull_request", { ...edited, changes })
    return event.type === "pull_request" && event.baseChanged
  }
  expect(changed({ base: { ref: { from: "main" }, sha: { from: "0" } } })).toBe(true)
  expect(changed({ title: { from: "old" } })).toBe(false)
})

test.each(["-upload-pack=touch", "refs/../x", "ABCDEF", "1".repeat(39)])("refuses %j as a head", (sha) => {
  const body = payload("pr.opened.json")
  body.pull_request.head.sha = sha
  expect(() => parseWebhookEvent("pull_request", body)).toThrow(expect.objectContaining({ code: "webhook_payload_invalid" }))
})

test.each([null, [], "text", 7, {}, { action: "opened" }])("refuses the body %j", (body) => {
  expect(() => parseWebhookEvent("pull_request", body)).toThrow(expect.objectContaining({ code: "webhook_payload_invalid" }))
})

// R-INTAKE-6
test("never refuses an event the product does not use", () => {
  expect(parseWebhookEvent("star", { anything: true })).toMatchObject({ type: "other", name: "star" })
})
