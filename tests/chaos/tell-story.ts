import { type Placed, travel } from "./journeys.ts"
import { expectationOf, liveOn, type Moment } from "./pull-request-life.ts"
import { createRandom, type Random } from "./random.ts"
import type { Story } from "./story.ts"
import { troubles } from "./troubles.ts"

const PULL_REQUESTS = 40

export type StoryOptions = Readonly<{
  /** Lets acts on one pull request happen within one second. */
  sameSecond: boolean
}>

/** The story of a seed: what happens at GitHub, on the way and to the processes, and what must be so in the end. Pure. */
export function tellStory(seed: number, { sameSecond }: StoryOptions): Story {
  const random = createRandom(seed)
  const lives = Array.from({ length: PULL_REQUESTS }, (_, index) => liveOn(random, index + 1, sameSecond))
  // Stable: acts of one pull request in one second keep their order.
  const moments = lives.flat().toSorted((a, b) => a.second - b.second)
  const placed = [...moments.flatMap((moment, place) => withJourney(random, moment, place)), ...troubles(random, moments.length)]
  return {
    seed,
    steps: placed.toSorted((a, b) => a.place - b.place).map(({ step }) => step),
    expectations: lives.map((life, index) =>
      expectationOf(
        index + 1,
        life.map(({ act }) => act),
      ),
    ),
  }
}

function withJourney(random: Random, { second, number, act, announced }: Moment, place: number): Placed[] {
  const webhook = announced ? place : null
  const step = { kind: "act" as const, second, number, act, webhook }
  return [{ place, step }, ...(webhook === null ? [] : travel(random, webhook, place))]
}
