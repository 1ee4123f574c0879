import { ProjectSettings } from "@galley/contract/settings"
import type { PullRequest } from "@galley/github/pull-request"
import type { PullRequestState } from "@galley/store/intake/settle-pull-request"
import { expect, test } from "vitest"
import { decideRefresh } from "./decide-refresh.ts"

const [HEAD, OTHER] = ["a".repeat(40), "c".repeat(40)]
const pull: PullRequest = {
  number: 7,
  title: "t",
  body: "",
  open: true,
  draft: false,
  updatedAt: "2026-11-01T00:00:00Z",
  author: "ann",
  authorIsBot: false,
  headRef: "f",
  headSha: HEAD,
  baseRef: "main",
  baseSha: "b".repeat(40),
}
const same: PullRequestState = pull

type Case = {
  before?: Partial<PullRequestState> | null
  pull?: Partial<PullRequest>
  settings?: Record<string, unknown>
  lastReviewedSha?: string
}
const decide = ({ before = {}, pull: changes = {}, settings = {}, lastReviewedSha }: Case) =>
  decideRefresh(
    before && { ...same, ...before },
    { ...pull, ...changes },
    ProjectSettings.parse({ active: true, debounceSeconds: 5, ...settings }),
    lastReviewedSha ?? null,
  )

const queued: [string, Case][] = [
  ["with another head", { before: { headSha: OTHER } }],
  ["whose head is back at one that was reviewed", { before: { headSha: OTHER }, lastReviewedSha: HEAD }],
  ["on another base", { before: { baseRef: "release" }, lastReviewedSha: HEAD }],
  ["that nobody heard of", { before: null }],
  ["that is no draft any more", { before: { draft: true } }],
  ["that is open again", { before: { open: false } }],
  [
    "that is a draft now, where drafts are reviewed",
    { before: { headSha: OTHER }, pull: { draft: true }, settings: { reviewDrafts: true } },
  ],
]
// R-INTAKE-15
test.each(queued)("queues a pull request %s", (_, given) => {
  expect(decide(given)).toEqual({ action: "enqueue", debounceMs: 5_000 })
})

const cancelled: [string, Case, string][] = [
  ["closed", { pull: { open: false } }, "pull_request_closed"],
  ["a draft", { pull: { draft: true } }, "pull_request_draft"],
]
test.each(cancelled)("cancels what waits for a pull request that is %s now", (_, given, code) => {
  expect(decide(given)).toEqual({ action: "cancel", code })
})

const ignored: [string, Case, string][] = [
  ["that is as it was known", {}, "overtaken"],
  ["that is a draft as before", { before: { draft: true }, pull: { draft: true } }, "overtaken"],
  ["that is open again at the head that was reviewed", { before: { open: false }, lastReviewedSha: HEAD }, "already_reviewed"],
  ["of a bot", { before: { headSha: OTHER }, pull: { authorIsBot: true } }, "bot_author"],
  ["of an inactive project", { before: { headSha: OTHER }, settings: { active: false } }, "inactive_project"],
]
test.each(ignored)("leaves a pull request alone %s", (_, given, reason) => {
  expect(decide(given)).toEqual({ action: "ignore", reason })
})
