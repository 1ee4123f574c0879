import { expect, test } from "vitest"
import { reviewStanding } from "./review-standing.ts"

type Standing = Parameters<typeof reviewStanding>[0]
type PullRequest = NonNullable<Standing["pullRequest"]>

const pullRequest: PullRequest = { headSha: "new", lastReviewedSha: "old", open: true, jobs: [] }
const standing = (changes: Partial<Standing> = {}): Standing => ({
  settings: { active: true },
  pullRequest,
  history: { jobs: [], deliveries: [] },
  ...changes,
})
const openJob = (state: "waiting" | "running") => ({ id: "j", state, kind: "diff" as const, runAfter: new Date(0), runId: null })
const failed = { state: "failed" as const, code: "input_too_large", headSha: "new" }
const ignored = { outcome: "ignored" as const, reason: "draft" }

// R-PAGE-6
test("names the nearest reason first", () => {
  const everything = { jobs: [failed], deliveries: [ignored] }
  const inactive = { settings: { active: false }, history: everything }
  expect(reviewStanding(standing({ ...inactive, pullRequest: { ...pullRequest, jobs: [openJob("waiting")] } }))).toContain("waits")
  expect(reviewStanding(standing({ ...inactive, pullRequest: { ...pullRequest, jobs: [openJob("running")] } }))).toContain("under way")
  expect(reviewStanding(standing({ ...inactive, pullRequest: { ...pullRequest, lastReviewedSha: "new" } }))).toContain("is reviewed")
  expect(reviewStanding(standing(inactive))).toContain("not active")
  expect(reviewStanding(standing({ pullRequest: { ...pullRequest, open: false }, history: everything }))).toContain("closed")
  expect(reviewStanding(standing({ history: everything }))).toBe("Failed. The change is too large to review.")
  expect(reviewStanding(standing({ history: { ...everything, jobs: [] } }))).toContain("draft")
})

test("does not blame the end of a job at an earlier head", () => {
  const history = { jobs: [{ ...failed, headSha: "old" }], deliveries: [{ outcome: "queued" as const, reason: null }] }
  expect(reviewStanding(standing({ history }))).toBe("No review was asked for at this head.")
})

test("says that nothing was heard of a pull request without any event", () => {
  expect(reviewStanding(standing({ pullRequest: null }))).toBe("No event about this pull request has arrived.")
})
