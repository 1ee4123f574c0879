import { expect, test } from "vitest"
import { expectationOf } from "./pull-request-life.ts"
import { createRandom } from "./random.ts"
import type { Act, Step, Story } from "./story.ts"
import { tellStory } from "./tell-story.ts"
import { SERVERS } from "./troubles.ts"

const seeds = [1, 2, 3, 4, 5]
const stories = seeds.map((seed) => tellStory(seed))
type Kind<K extends Step["kind"]> = Extract<Step, { kind: K }>
const stepsOf = <K extends Step["kind"]>(story: Story, kind: K) => story.steps.filter((step): step is Kind<K> => step.kind === kind)
const actsOf = (story: Story, number: number) => stepsOf(story, "act").filter((step) => step.number === number)

test("draws the numbers that mulberry32 is known for", () => {
  const { below } = createRandom(1)
  expect([below(2 ** 32), below(2 ** 32), below(2 ** 32)]).toEqual([2693262067, 11749833, 2265367787])
})

test("the same seed tells the same story, another seed another one", () => {
  expect(tellStory(7)).toEqual(tellStory(7))
  expect(tellStory(7).steps).not.toEqual(tellStory(8).steps)
})

test.each(stories)("story $seed sends at least 1,500 copies over dozens of pull requests, of every kind of act", (story) => {
  expect(stepsOf(story, "delivery").length).toBeGreaterThan(1_500)
  expect(story.expectations.length).toBeGreaterThan(24)
  const kinds = new Set(stepsOf(story, "act").map(({ act }) => (act.kind === "draft" ? `draft ${act.draft}` : act.kind)))
  expect([...kinds].toSorted()).toEqual(
    ["close", "comment", "draft false", "draft true", "edit_base", "edit_title", "open", "push", "reopen"].toSorted(),
  )
})

test.each(stories)("story $seed loses, forgets and repeats webhooks, and sends each only after its act", (story) => {
  const sent = stepsOf(story, "delivery")
  for (const fate of ["arrives", "lost", "forgotten"]) expect(sent.filter((step) => step.fate === fate).length).toBeGreaterThan(20)
  expect(sent.length - new Set(sent.map(({ webhook }) => webhook)).size).toBeGreaterThan(100)
  const happened = new Set<number | null>()
  for (const step of story.steps) {
    if (step.kind === "act") happened.add(step.webhook)
    if (step.kind === "delivery") expect(happened).toContain(step.webhook)
  }
})

test.each(stories)("in story $seed newer news of a pull request overtakes older news a hundred times", (story) => {
  const pullRequestOf = new Map(stepsOf(story, "act").map(({ webhook, number }) => [webhook, number]))
  const newest = new Map<number | undefined, number>()
  let overtaken = 0
  for (const { webhook, fate } of stepsOf(story, "delivery")) {
    if (fate !== "arrives") continue
    const number = pullRequestOf.get(webhook)
    if (webhook < (newest.get(number) ?? 0)) overtaken++
    newest.set(number, Math.max(webhook, newest.get(number) ?? 0))
  }
  expect(overtaken).toBeGreaterThan(100)
})

test.each(stories)("story $seed hits every server and its runners with each signal of some", (story) => {
  const blows = stepsOf(story, "blow").map(({ blow }) => blow)
  expect(blows.filter(({ target }) => target === "server").length).toBeGreaterThan(SERVERS)
  expect(blows.filter(({ target, signal }) => target === "runner" && signal === "SIGKILL").length).toBeGreaterThan(1)
  expect(stepsOf(story, "fault").length).toBeGreaterThan(20)
})

test.each(stories)("story $seed has a hundred acts in the second of the act before, and nothing happens in between", (story) => {
  const pairs = story.steps.filter((step, turn) => {
    const before = story.steps[turn - 1]
    return step.kind === "act" && before?.kind === "act" && step.number === before.number && step.second === before.second
  })
  const alike = story.expectations.map(({ number }) => {
    const seconds = actsOf(story, number).map(({ second }) => second)
    return seconds.length - new Set(seconds).size
  })
  expect(pairs.length).toBeGreaterThan(100)
  expect(pairs).toHaveLength(alike.reduce((sum, count) => sum + count, 0))
})

test.each(stories)("story $seed ends, when all is reviewed, with news of pushes that another push of their second followed", (story) => {
  const words = story.steps.slice(story.steps.findIndex(({ kind }) => kind === "rest") + 1)
  expect(words.length).toBeGreaterThan(4)
  for (const word of words) {
    const turn = story.steps.findIndex((step) => step.kind === "act" && word.kind === "delivery" && step.webhook === word.webhook)
    const [told, next] = story.steps.slice(turn, turn + 2)
    expect([told, next]).toMatchObject([{ act: { kind: "push" } }, { act: { kind: "push" } }])
    expect(told).toMatchObject({ ...next, act: expect.anything(), webhook: expect.anything() })
  }
})

test("acts keep their order in a story", () => {
  for (const story of stories) {
    for (const { number } of story.expectations) expect(actsOf(story, number)[0]?.act.kind).toBe("open")
  }
})

const A = "a".repeat(40)
const B = "b".repeat(40)
const open = (draft = false): Act => ({ kind: "open", headSha: A, draft })
const push: Act = { kind: "push", headSha: B }
const endings: [string, Act[], { reviewedSha: string | null; asks: [string, number][]; commands?: number }][] = [
  [
    "its last push",
    [open(), push],
    {
      reviewedSha: B,
      asks: [
        [A, 1],
        [B, 1],
      ],
    },
  ],
  ["nothing while it is a draft", [open(true), push], { reviewedSha: null, asks: [] }],
  ["what was pushed while it was a draft", [open(true), push, { kind: "draft", draft: false }], { reviewedSha: B, asks: [[B, 1]] }],
  ["nothing once it is closed", [open(), { kind: "close" }], { reviewedSha: null, asks: [[A, 1]] }],
  [
    "what was pushed while it was closed",
    [open(), { kind: "close" }, push, { kind: "reopen" }],
    {
      reviewedSha: B,
      asks: [
        [A, 1],
        [B, 1],
      ],
    },
  ],
  ["the same head again for another base", [open(), { kind: "edit_base", baseSha: B }], { reviewedSha: A, asks: [[A, 2]] }],
  ["nothing more for another title", [open(), { kind: "edit_title", title: "t" }], { reviewedSha: A, asks: [[A, 1]] }],
  ["what a command asks for", [open(), { kind: "comment", body: "/review" }], { reviewedSha: A, asks: [[A, 1]], commands: 1 }],
  ["nothing more for other comments", [open(), { kind: "comment", body: "Looks good" }], { reviewedSha: A, asks: [[A, 1]] }],
]
test.each(endings)("expects of a pull request %s", (_, acts, { reviewedSha, asks, commands = 0 }) => {
  expect(expectationOf(7, acts)).toEqual({ number: 7, reviewedSha, asks: new Map(asks), commands })
})
