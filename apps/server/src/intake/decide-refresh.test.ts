import { ProjectSettings } from "@galley/contract/settings"
import type { PullRequest } from "@galley/github/pull-request"
import type { PullRequestState } from "@galley/store/intake/settle-pull-request"
import { expect, test } from "vitest"
import { decideDelivery } from "./decide-delivery.ts"
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
  ["that is no draft any more, though its head was reviewed", { before: { draft: true }, lastReviewedSha: HEAD }],
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
  ["that is a draft as before, on another head", { before: { draft: true, headSha: OTHER }, pull: { draft: true } }, "draft"],
  ["that is closed as before, on another head", { before: { open: false, headSha: OTHER }, pull: { open: false } }, "closed"],
  ["that nobody heard of and is a draft", { before: null, pull: { draft: true } }, "draft"],
  ["that is a draft now, where drafts are reviewed", { pull: { draft: true }, settings: { reviewDrafts: true } }, "action_not_used"],
  ["that is open again at the head that was reviewed", { before: { open: false }, lastReviewedSha: HEAD }, "already_reviewed"],
  ["of a bot", { before: { headSha: OTHER }, pull: { authorIsBot: true } }, "bot_author"],
  ["of an inactive project", { before: { headSha: OTHER }, settings: { active: false } }, "inactive_project"],
  ["of an inactive project, though it is closed now", { pull: { open: false }, settings: { active: false } }, "inactive_project"],
]
test.each(ignored)("leaves a pull request alone %s", (_, given, reason) => {
  expect(decide(given)).toEqual({ action: "ignore", reason })
})

const changes: [string, string, Case][] = [
  ["was opened", "opened", { before: null }],
  ["was opened as a draft", "opened", { before: null, pull: { draft: true } }],
  ["was closed", "closed", { pull: { open: false } }],
  ["was opened again", "reopened", { before: { open: false } }],
  ["became a draft", "converted_to_draft", { pull: { draft: true } }],
  ["became ready", "ready_for_review", { before: { draft: true } }],
  ["was pushed to", "synchronize", { before: { headSha: OTHER } }],
  ["was pushed to as a draft", "synchronize", { before: { headSha: OTHER, draft: true }, pull: { draft: true } }],
  ["got another base", "edited", { before: { baseRef: "release" } }],
  ["got another base while it was closed", "edited", { before: { baseRef: "release", open: false }, pull: { open: false } }],
]
test.each(changes)("decides as the event does when a pull request %s, whatever the project wants", (_, action, { before, pull: now }) => {
  const repository = { id: 3, owner: "o", name: "r", private: true }
  for (const settings of [{}, { active: false }, { reviewDrafts: true }, { reviewBotPullRequests: true }])
    for (const authorIsBot of [false, true])
      for (const lastReviewedSha of [null, HEAD]) {
        const pullRequest = { ...pull, ...now, authorIsBot }
        const project = { settings: ProjectSettings.parse({ active: true, ...settings }), removed: false }
        const facts = { installation: { suspended: false }, project, pullRequest: { lastReviewedSha } }
        const event = {
          type: "pull_request" as const,
          action,
          installationId: 1,
          repository,
          pullRequest,
          baseChanged: action === "edited",
        }

        const decided = decideRefresh(before === null ? null : { ...same, ...before }, pullRequest, project.settings, lastReviewedSha)

        expect(decideDelivery(event, facts)).toMatchObject(decided)
      }
})
