import { ProjectSettings } from "@galley/contract/settings"
import { parseWebhookEvent, type WebhookEvent } from "@galley/github/webhook-event"
import { expect, test } from "vitest"
import { type DeliveryFacts, decideDelivery } from "./decide-delivery.ts"

const HEAD = "a".repeat(40)

function pullRequest(action: string, pull: Record<string, unknown> = {}, extra: Record<string, unknown> = {}): WebhookEvent {
  return parseWebhookEvent("pull_request", {
    action,
    installation: { id: 1 },
    sender: { login: "ann", id: 2 },
    repository: { id: 3, name: "r", full_name: "o/r", private: true, owner: { login: "o" } },
    pull_request: {
      number: 7,
      title: "t",
      body: null,
      draft: false,
      state: "open",
      updated_at: "2026-11-01T00:00:00Z",
      user: { login: "ann", id: 2, type: "User" },
      head: { ref: "f", sha: HEAD },
      base: { ref: "main", sha: "b".repeat(40) },
      ...pull,
    },
    ...extra,
  })
}

function comment(body: string, over: Record<string, unknown> = {}, issue: Record<string, unknown> = {}, action = "created"): WebhookEvent {
  return parseWebhookEvent("issue_comment", {
    action,
    installation: { id: 1 },
    sender: { login: "ann", id: 2 },
    repository: { id: 3, name: "r", full_name: "o/r", private: true, owner: { login: "o" } },
    issue: { number: 7, state: "open", pull_request: {}, ...issue },
    comment: { id: 9, body, author_association: "MEMBER", user: { login: "ann", id: 2 }, ...over },
  })
}

function facts(settings: Record<string, unknown> = {}, over: Partial<DeliveryFacts> = {}): DeliveryFacts {
  return {
    installation: { suspended: false },
    project: { settings: ProjectSettings.parse({ active: true, ...settings }), removed: false },
    pullRequest: null,
    ...over,
  }
}

// R-INTAKE-5
test.each(["opened", "reopened", "ready_for_review", "synchronize"])("queues a pull request that was %s", (action) => {
  expect(decideDelivery(pullRequest(action), facts({ debounceSeconds: 5 }))).toMatchObject({ action: "enqueue", debounceMs: 5_000 })
})

test("queues an edit only when the base changed", () => {
  const edit = (changes: unknown) => decideDelivery(pullRequest("edited", {}, { changes }), facts())
  expect(edit({ base: { ref: { from: "main" } } })).toMatchObject({ action: "enqueue" })
  expect(edit({ title: { from: "old" } })).toEqual({ action: "ignore", reason: "base_unchanged" })
})

test("does not review a reopened pull request again at the same head", () => {
  expect(decideDelivery(pullRequest("reopened"), facts({}, { pullRequest: { lastReviewedSha: HEAD } }))).toMatchObject({
    reason: "already_reviewed",
  })
})

test("leaves drafts alone unless the project wants them", () => {
  expect(decideDelivery(pullRequest("opened", { draft: true }), facts())).toMatchObject({ reason: "draft" })
  expect(decideDelivery(pullRequest("opened", { draft: true }), facts({ reviewDrafts: true }))).toMatchObject({ action: "enqueue" })
})

test("leaves pull requests of bots alone unless the project wants them", () => {
  const bot = pullRequest("opened", { user: { login: "dependabot[bot]", id: 5, type: "Bot" } })
  expect(decideDelivery(bot, facts())).toMatchObject({ reason: "bot_author" })
  expect(decideDelivery(bot, facts({ reviewBotPullRequests: true }))).toMatchObject({ action: "enqueue" })
})

// R-INTAKE-12
test("cancels what waits when a pull request is closed or becomes a draft", () => {
  expect(decideDelivery(pullRequest("closed", { state: "closed" }), facts())).toMatchObject({
    action: "cancel",
    code: "pull_request_closed",
  })
  expect(decideDelivery(pullRequest("converted_to_draft", { draft: true }), facts())).toMatchObject({
    action: "cancel",
    code: "pull_request_draft",
  })
})

// R-INTAKE-5
test("ignores an inactive project, a stranger and a suspended installation, each with its reason", () => {
  const event = pullRequest("opened")
  expect(decideDelivery(event, facts({ active: false }))).toMatchObject({ reason: "inactive_project" })
  expect(decideDelivery(event, facts({}, { project: null }))).toMatchObject({ reason: "unknown_repository" })
  expect(decideDelivery(event, facts({}, { installation: null }))).toMatchObject({ reason: "unknown_installation" })
  expect(decideDelivery(event, facts({}, { installation: { suspended: true } }))).toMatchObject({ reason: "installation_suspended" })
})

test("takes a removed repository for unknown until it is unarchived", () => {
  const removed = facts({}, { project: { settings: ProjectSettings.parse({ active: true }), removed: true } })
  const repository = { id: 3, name: "r", full_name: "o/r", private: true, owner: { login: "o" } }
  const event = (action: string) => parseWebhookEvent("repository", { action, installation: { id: 1 }, repository })
  expect(decideDelivery(pullRequest("opened"), removed)).toMatchObject({ reason: "unknown_repository" })
  expect(decideDelivery(event("renamed"), removed)).toMatchObject({ reason: "unknown_repository" })
  expect(decideDelivery(event("unarchived"), removed)).toMatchObject({ action: "update_repository" })
})

test("ignores a delivery without an installation", () => {
  expect(decideDelivery(pullRequest("opened", {}, { installation: undefined }), facts())).toMatchObject({ reason: "no_installation" })
})

test("takes /review of a member and leaves the head to a task", () => {
  expect(decideDelivery(comment("/Review now"), facts())).toMatchObject({ action: "resolve_command" })
})

// R-INTAKE-8
test.each([
  ["another comment", comment("looks good"), "not_a_command"],
  ["a command of an outsider", comment("/review", { author_association: "CONTRIBUTOR" }), "commander_not_allowed"],
  ["a command of a bot", comment("/review", { user: { login: "x[bot]", id: 4, type: "Bot" } }), "command_from_bot"],
  ["an edited command", comment("/review", {}, {}, "edited"), "action_not_used"],
  ["a command on an issue", comment("/review", {}, { pull_request: undefined }), "not_a_pull_request"],
  ["a command on a closed pull request", comment("/review", {}, { state: "closed" }), "closed"],
] as const)("ignores %s", (_, event, reason) => {
  expect(decideDelivery(event, facts())).toEqual({ action: "ignore", reason })
})

test("ignores a command when the project is inactive", () => {
  expect(decideDelivery(comment("/review"), facts({ active: false }))).toMatchObject({ reason: "inactive_project" })
})

test("uses no event it does not know", () => {
  expect(decideDelivery(parseWebhookEvent("star", { action: "created" }), facts())).toMatchObject({ reason: "event_not_used" })
})
