import { type Placed, travel } from "./journeys.ts"
import { expectationOf, liveOn, type Moment } from "./pull-request-life.ts"
import { createRandom, type Random } from "./random.ts"
import type { Step, Story } from "./story.ts"
import { troubles } from "./troubles.ts"

const PULL_REQUESTS = 40

/** The story of a seed: what happens at GitHub, on the way and to the processes, and what must be so in the end. Pure. */
export function tellStory(seed: number): Story {
  const random = createRandom(seed)
  const lives = Array.from({ length: PULL_REQUESTS }, (_, index) => liveOn(random, index + 1))
  // Stable: acts of one pull request in one second keep their order.
  const moments = lives.flat().toSorted((a, b) => a.second - b.second)
  const places = placesOf(moments)
  const placed = [
    ...moments.flatMap((moment, index) => withJourney(random, moment, index, places[index] ?? index)),
    ...troubles(random, moments.length),
  ]
  return {
    seed,
    steps: [...placed.toSorted((a, b) => a.place - b.place).map(({ step }) => step), { kind: "rest" }, ...lastWords(moments)],
    expectations: lives.map((life, index) =>
      expectationOf(
        index + 1,
        life.map(({ act }) => act),
      ),
    ),
  }
}

/** Acts on one pull request within one second happen without anything in between, as the processes' clocks have no part in the story's. */
function placesOf(moments: readonly Moment[]): number[] {
  let first = 0
  return moments.map(({ second, number }, index) => {
    const { second: secondBefore, number: numberBefore } = moments[index - 1] ?? {}
    if (second !== secondBefore || number !== numberBefore) first = index
    return first
  })
}

/** Webhooks that come when everything has been reviewed. */
function lastWords(moments: readonly Moment[]): Step[] {
  return moments.flatMap(({ toldLast }, webhook) => (toldLast ? [{ kind: "delivery", webhook, fate: "arrives" }] : []))
}

function withJourney(random: Random, { second, number, act, announced, toldLast }: Moment, index: number, place: number): Placed[] {
  const webhook = announced ? index : null
  const step = { kind: "act" as const, second, number, act, webhook }
  if (webhook === null) return [{ place, step }]
  return [{ place, step }, ...(toldLast ? [] : travel(random, webhook, place))]
}
