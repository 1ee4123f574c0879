import { setTimeout as delay } from "node:timers/promises"
import { startChaosRig } from "./chaos-rig.ts"
import { comeToRest } from "./come-to-rest.ts"
import { type Failure, judge } from "./judge.ts"
import { observe } from "./observe.ts"
import { play, setStage } from "./play.ts"
import { type StoryOptions, tellStory } from "./tell-story.ts"

export type SeedReport = Readonly<{
  /** Attempts that GitHub made or lists. */
  deliveries: number
  reviews: number
  failures: readonly Failure[]
  seconds: Readonly<{ start: number; play: number; rest: number }>
}>

const PLAY_MS = 300_000
const REST_MS = 90_000

/** Tells, plays and judges the story of one seed on an installation of its own. */
export async function runSeed(seed: number, options: StoryOptions): Promise<SeedReport> {
  const story = tellStory(seed, options)
  const stage = setStage()
  const startedAt = performance.now()
  const rig = await startChaosRig(stage.options)
  try {
    const playedFrom = performance.now()
    const hung = await played(play(story, stage, rig))
    const restedFrom = performance.now()
    const unfinished = hung === null ? await comeToRest(rig, REST_MS) : [hung]
    const world = await observe(story, stage, rig, unfinished)
    const now = performance.now()
    return {
      deliveries: rig.github.deliveries().length,
      reviews: [...world.pullRequests.values()].reduce((sum, { publishedShas }) => sum + publishedShas.length, 0),
      failures: judge(story, world),
      seconds: { start: playedFrom - startedAt, play: restedFrom - playedFrom, rest: now - restedFrom },
    }
  } finally {
    await rig.stop()
  }
}

/** @returns why the story did not come to its end, or null */
async function played(playing: Promise<void>): Promise<string | null> {
  const ending = new AbortController()
  const tooLong = delay(PLAY_MS, `the story was not over after ${PLAY_MS} ms`, { signal: ending.signal })
  try {
    return await Promise.race([playing.then(() => null), tooLong])
  } finally {
    ending.abort()
    tooLong.catch(() => undefined)
  }
}
