import { type ChaosRig, startChaosRig } from "./chaos-rig.ts"
import { comeToRest } from "./come-to-rest.ts"
import { type Failure, judge } from "./judge.ts"
import { observe } from "./observe.ts"
import { play, setStage } from "./play.ts"
import { tellStory } from "./tell-story.ts"

export type SeedReport = Readonly<{
  failures: readonly Failure[]
  /** Attempts at a delivery that GitHub lists. */
  deliveries: number
  /** How much there was to survive, for people. */
  toll: Readonly<{ failedDeliveries: number; publishedRuns: number; lostRuns: number }>
  /** Lines of all processes, each life behind the one before. */
  log: readonly string[]
  /** Milliseconds. */
  times: Readonly<{ start: number; story: number; rest: number }>
}>

const STORY_MS = 300_000
const REST_MS = 90_000

/** Tells, plays and judges the story of one seed on an installation of its own. */
export async function runSeed(seed: number): Promise<SeedReport> {
  const story = tellStory(seed)
  const stage = setStage()
  const startedAt = performance.now()
  const rig = await startChaosRig(stage.options)
  try {
    const playedFrom = performance.now()
    const broken = await faultOf(inTime(play(story, stage, rig)))
    const restedFrom = performance.now()
    const unfinished = broken === null ? await comeToRest(rig, AbortSignal.timeout(REST_MS)) : [broken]
    const world = await observe(story, stage, rig, unfinished)
    const times = { start: playedFrom - startedAt, story: restedFrom - playedFrom, rest: performance.now() - restedFrom }
    const log = [...rig.servers, ...rig.runners].flatMap((kept) => kept.lines())
    return { failures: judge(story, world), deliveries: rig.github.deliveries().length, toll: await readToll(rig), log, times }
  } finally {
    await rig.stop()
  }
}

async function readToll({ intake, github }: ChaosRig): Promise<SeedReport["toll"]> {
  const [runs] = await intake.sql<[{ publishedRuns: number; lostRuns: number }]>`
    select count(published_at)::int as "publishedRuns", count(*) filter (where code = 'runner_lost')::int as "lostRuns" from review_runs`
  return { failedDeliveries: github.deliveries().filter(({ statusCode }) => statusCode >= 300).length, ...runs }
}

const faultOf = (work: Promise<unknown>): Promise<string | null> => work.then(() => null).catch((error: unknown) => String(error))

/** @throws when the story does not come to its end in time */
function inTime(playing: Promise<void>): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const giveUp = () => reject(new Error(`the story was not over after ${STORY_MS} ms`))
  AbortSignal.timeout(STORY_MS).addEventListener("abort", giveUp)
  return Promise.race([playing, late])
}
