import type { Expectation, Story } from "./story.ts"
import type { DeliveryRecord, PullRequestRecord, World } from "./world.ts"

/** What `make chaos` counts; each must be 0. */
export type Counter = "lost" | "duplicateComments" | "missingRuns" | "hung"

/** One promise that was not kept. */
export type Failure = Readonly<{ counter: Counter; subject: string; expected: string; found: string }>

const nothing: PullRequestRecord = { jobs: [], publishedShas: [], commentShas: [], commentsWritten: 0 }
const unended = new Set(["waiting", "running", "publishing"])
const short = (sha: string | null) => sha?.slice(0, 8) ?? "unreadable"

/**
 * Compares what a run left behind with what its story promises. Pure.
 *
 * - `lost`: deliveries that were acknowledged, or that GitHub lists as failed, and that the database does not have
 * - `duplicateComments`: bot comments beside the first of a pull request, also ones that were deleted since; and publications beyond those
 *   that events and commands asked for
 * - `missingRuns`: reviewable pull requests whose last head was not published, or is not what the comment is about; and others of which
 *   something was published and that have no comment that can be read
 * - `hung`: pull requests with jobs that never ended, and other work that had not come to rest in time, was given up, or was acknowledged and
 *   never decided
 */
export function judge(story: Story, world: World): Failure[] {
  return [
    ...world.deliveries.flatMap(judgeDelivery),
    ...story.expectations.flatMap((expectation) => judgePullRequest(expectation, world.pullRequests.get(expectation.number) ?? nothing)),
    ...world.unfinished.map((found): Failure => ({ counter: "hung", subject: "the run", expected: "rest", found })),
  ]
}

function judgeDelivery({ id, event, acknowledged, stored }: DeliveryRecord): Failure[] {
  if (stored) return []
  const found = acknowledged ? "acknowledged and not in the database" : "listed as failed and never taken in"
  return [{ counter: "lost", subject: `delivery ${id} (${event})`, expected: "a row of its own", found }]
}

function judgePullRequest(expectation: Expectation, record: PullRequestRecord): Failure[] {
  const subject = `pull request ${expectation.number}`
  const fail = (counter: Counter, expected: string, found: string): Failure => ({ counter, subject, expected, found })
  const failures: Failure[] = []
  if (record.commentsWritten > 1) failures.push(fail("duplicateComments", "one bot comment ever", `${record.commentsWritten} written`))
  // Each command may have any head published once more, all of them together no more than there are commands.
  const more = [...countOf(record.publishedShas)].map(([sha, times]) => [sha, times - (expectation.asks.get(sha) ?? 0)] as const)
  const unasked = more.filter(([, times]) => times > 0)
  if (unasked.reduce((sum, [, times]) => sum + times, 0) > expectation.commands) {
    const found = unasked.map(([sha, times]) => `${short(sha)} ${times} times more`).join(", ")
    failures.push(fail("duplicateComments", `${expectation.commands} publications at most that no event asked for`, found))
  }
  const busy = record.jobs.filter(({ state }) => unended.has(state))
  if (busy.length > 0) failures.push(fail("hung", "no job that waits or works", describe(busy)))
  if (record.publishedShas.length > 0 && (record.commentShas.length !== 1 || record.commentShas[0] === null)) {
    const found = record.commentShas.map(short).join(", ") || "no comment"
    failures.push(fail("missingRuns", "one comment that can be read, for something was published", found))
    return failures
  }
  const { reviewedSha } = expectation
  if (reviewedSha === null) return failures
  if (!record.publishedShas.includes(reviewedSha)) {
    failures.push(fail("missingRuns", `a published review of ${short(reviewedSha)}`, describe(record.jobs)))
  } else if (!record.commentShas.includes(reviewedSha)) {
    const found = `${record.commentShas.map(short).join(", ") || "no comment"}; ${describe(record.jobs)}`
    failures.push(fail("missingRuns", `a comment about ${short(reviewedSha)}`, found))
  }
  return failures
}

function countOf(items: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1)
  return counts
}

/** The last jobs, oldest first. */
const describe = (jobs: PullRequestRecord["jobs"]) =>
  jobs
    .slice(-4)
    .map(({ state, code, headSha }) => `${short(headSha)} ${state}${code === null ? "" : ` (${code})`}`)
    .join(", ") || "no job"
