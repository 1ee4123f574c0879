import { expect, test } from "vitest"
import { type Failure, judge } from "./judge.ts"
import type { Expectation, Story } from "./story.ts"
import type { PullRequestRecord, World } from "./world.ts"

const HEAD = "a".repeat(40)
const EARLIER = "b".repeat(40)
const ready: Expectation = {
  number: 1,
  reviewedSha: HEAD,
  asks: new Map([
    [EARLIER, 1],
    [HEAD, 1],
  ]),
  commands: 0,
}
const closed: Expectation = { number: 2, reviewedSha: null, asks: new Map([[EARLIER, 1]]), commands: 0 }
const story: Story = { seed: 1, steps: [], expectations: [ready, closed] }

const reviewed: PullRequestRecord = {
  jobs: [
    { state: "superseded", code: "head_superseded", headSha: EARLIER },
    { state: "succeeded", code: null, headSha: HEAD },
  ],
  publishedShas: [HEAD],
  commentShas: [HEAD],
  commentsWritten: 1,
}
const untouched: PullRequestRecord = { jobs: [], publishedShas: [], commentShas: [], commentsWritten: 0 }

type Change = {
  ready?: Partial<PullRequestRecord>
  closed?: Partial<PullRequestRecord>
  deliveries?: World["deliveries"]
  unfinished?: string[]
}
const worldWith = (change: Change): World => ({
  pullRequests: new Map([
    [1, { ...reviewed, ...change.ready }],
    [2, { ...untouched, ...change.closed }],
  ]),
  deliveries: change.deliveries ?? [],
  unfinished: change.unfinished ?? [],
})
const delivery = { id: "d", event: "pull_request", acknowledged: true, stored: true }

const sound: [string, Change][] = [
  ["everything is as it should be", {}],
  ["every delivery is stored", { deliveries: [delivery, { ...delivery, acknowledged: false }] }],
  ["an earlier head was published, too", { ready: { publishedShas: [EARLIER, HEAD] } }],
  ["a closed pull request was reviewed before", { closed: { publishedShas: [EARLIER], commentShas: [EARLIER], commentsWritten: 1 } }],
  ["a job of a closed pull request was cancelled", { closed: { jobs: [{ state: "cancelled", code: null, headSha: EARLIER }] } }],
]
test.each(sound)("is content when %s", (_, change) => {
  expect(judge(story, worldWith(change))).toEqual([])
})

const waiting = { state: "waiting", code: null, headSha: EARLIER }
const broken: [string, Failure["counter"], Change][] = [
  ["an acknowledged delivery is not stored", "lost", { deliveries: [{ ...delivery, stored: false }] }],
  ["a failed delivery was never taken in", "lost", { deliveries: [{ ...delivery, acknowledged: false, stored: false }] }],
  ["a second comment stands there", "duplicateComments", { closed: { commentShas: [EARLIER, EARLIER], commentsWritten: 2 } }],
  ["a second comment was written and deleted", "duplicateComments", { ready: { commentsWritten: 2 } }],
  ["a head was published twice and asked for once", "duplicateComments", { ready: { publishedShas: [HEAD, HEAD] } }],
  [
    "a head was published that nobody asked for",
    "duplicateComments",
    { closed: { publishedShas: [HEAD], commentShas: [HEAD], commentsWritten: 1 } },
  ],
  ["the last head has no run", "missingRuns", { ready: { publishedShas: [EARLIER], commentShas: [EARLIER] } }],
  ["nothing at all was reviewed", "missingRuns", { ready: untouched }],
  [
    "a closed pull request was reviewed and its comment is gone",
    "missingRuns",
    { closed: { publishedShas: [EARLIER], commentsWritten: 1 } },
  ],
  [
    "the comment of a closed pull request cannot be read",
    "missingRuns",
    { closed: { publishedShas: [EARLIER], commentShas: [null], commentsWritten: 1 } },
  ],
  ["an older review replaced the last one", "missingRuns", { ready: { publishedShas: [HEAD, EARLIER], commentShas: [EARLIER] } }],
  ["the comment is gone", "missingRuns", { ready: { commentShas: [] } }],
  ["the comment cannot be read", "missingRuns", { ready: { commentShas: [null] } }],
  ["a job of a closed pull request waits", "hung", { closed: { jobs: [waiting] } }],
  ["a job is running", "hung", { ready: { jobs: [...reviewed.jobs, { ...waiting, state: "running" }] } }],
  ["a job is publishing", "hung", { ready: { jobs: [...reviewed.jobs, { ...waiting, state: "publishing" }] } }],
  ["work was under way at the deadline", "hung", { unfinished: ["publish-comment: 1 retry"] }],
]
test.each(broken)("notices when %s", (_, counter, change) => {
  expect(judge(story, worldWith(change)).map((failure) => failure.counter)).toEqual([counter])
})

test("lets a command ask for another review of a head", () => {
  const commanded: Story = { ...story, expectations: [{ ...ready, commands: 1 }] }
  const twice = worldWith({ ready: { publishedShas: [HEAD, HEAD] } })
  const thrice = worldWith({ ready: { publishedShas: [HEAD, HEAD, HEAD] } })
  expect(judge(commanded, twice)).toEqual([])
  const twiceEach = worldWith({ ready: { publishedShas: [EARLIER, EARLIER, HEAD, HEAD] } })
  expect(judge(commanded, thrice)).toHaveLength(1)
  expect(judge(commanded, twiceEach)).toHaveLength(1)
})

test("names the pull request, what was expected and what is there", () => {
  expect(judge(story, worldWith({ ready: { publishedShas: [] } }))).toEqual([
    {
      counter: "missingRuns",
      subject: "pull request 1",
      expected: "a published review of aaaaaaaa",
      found: "bbbbbbbb superseded (head_superseded), aaaaaaaa succeeded",
    },
  ])
})
