import { ProjectSettings } from "@galley/contract/settings"
import type { OpenPullRequest } from "@galley/github/open-pull-requests"
import { expect, test } from "vitest"
import { decideOpenHead } from "./decide-open-head.ts"

const OPENED = new Date("2026-11-01T00:00:00Z")
const pull: OpenPullRequest = {
  number: 7,
  title: "t",
  body: "",
  open: true,
  draft: false,
  updatedAt: OPENED.toISOString(),
  author: "ann",
  authorIsBot: false,
  headRef: "f",
  headSha: "a".repeat(40),
  baseRef: "main",
  baseSha: "b".repeat(40),
  createdAt: OPENED,
}
const missed = { reviewed: false, handled: false, underReview: false }
const before = new Date(OPENED.getTime() - 1)
const after = new Date(OPENED.getTime() + 1)

type Case = {
  pull?: Partial<OpenPullRequest>
  settings?: Record<string, unknown>
  facts?: Partial<typeof missed>
  activatedAt?: Date | null
}
const decide = ({ pull: changes = {}, settings = {}, facts = {}, activatedAt = null }: Case) =>
  decideOpenHead({ ...pull, ...changes }, ProjectSettings.parse({ active: true, ...settings }), { ...missed, ...facts }, activatedAt)

const queued: [string, Case][] = [
  ["nobody heard of", {}],
  ["of a draft, where drafts are reviewed", { pull: { draft: true }, settings: { reviewDrafts: true } }],
  ["of a bot, where those are reviewed", { pull: { authorIsBot: true }, settings: { reviewBotPullRequests: true } }],
  ["opened after the activation", { activatedAt: before }],
  ["opened before the activation but under review since", { activatedAt: after, facts: { underReview: true } }],
]
test.each(queued)("queues a head %s", (_, given) => {
  expect(decide(given)).toEqual({ action: "enqueue" })
})

const ignored: [string, Case, string][] = [
  ["of an inactive project", { settings: { active: false } }, "inactive_project"],
  ["of a pull request that closed meanwhile", { pull: { open: false } }, "closed"],
  ["of a draft", { pull: { draft: true } }, "draft"],
  ["of a bot", { pull: { authorIsBot: true } }, "bot_author"],
  ["that was reviewed", { facts: { reviewed: true } }, "already_reviewed"],
  ["that has a job", { facts: { handled: true } }, "already_handled"],
  ["from before the activation", { activatedAt: after }, "before_activation"],
]
test.each(ignored)("leaves a head %s alone", (_, given, reason) => {
  expect(decide(given)).toEqual({ action: "ignore", reason })
})
