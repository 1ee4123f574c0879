/**
 * `make chaos [SEEDS=20] [SEED=n]`: plays the story of each seed and prints one JSON line. Exit status 1 when a promise was not kept, 2 when the
 * call was wrong.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import type { Counter, Failure } from "./judge.ts"
import { runSeed } from "./run-seed.ts"

const say = (line: string) => process.stderr.write(`${line}\n`)
const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`

function seedsOf({ SEED, SEEDS }: NodeJS.ProcessEnv): number[] | null {
  const [first, count] = SEED ? [Number(SEED), 1] : [1, Number(SEEDS || 20)]
  if (![first, count].every((value) => Number.isInteger(value) && value > 0)) return null
  return Array.from({ length: count }, (_, index) => first + index)
}

function keepLog(seed: number, lines: readonly string[]): string {
  const file = `artefacts/chaos-${seed}.log`
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${lines.join("\n")}\n`)
  return file
}

async function main(): Promise<number> {
  const seeds = seedsOf(process.env)
  if (seeds === null) {
    say("chaos: SEEDS and SEED are whole numbers from 1")
    return 2
  }
  const failures: Failure[] = []
  let deliveries = 0
  for (const seed of seeds) {
    say(`seed ${seed}`)
    const report = await runSeed(seed)
    const { failedDeliveries, publishedRuns, lostRuns } = report.toll
    const { start, story, rest } = report.times
    say(
      `seed ${seed}: ${report.deliveries} deliveries (${failedDeliveries} failed), ${publishedRuns} reviews published, ${lostRuns} attempts lost`,
    )
    say(`seed ${seed}: started in ${seconds(start)}, story ${seconds(story)}, at rest after ${seconds(rest)}`)
    for (const { counter, subject, expected, found } of report.failures) {
      say(`seed ${seed}: ${counter}: ${subject}: expected ${expected}, found ${found}`)
    }
    if (report.failures.length > 0) say(`seed ${seed}: the log of its processes is in ${keepLog(seed, report.log)}`)
    deliveries += report.deliveries
    failures.push(...report.failures)
  }
  const count = (counter: Counter) => failures.filter((failure) => failure.counter === counter).length
  const counts = {
    lost: count("lost"),
    duplicateComments: count("duplicateComments"),
    missingRuns: count("missingRuns"),
    hung: count("hung"),
  }
  process.stdout.write(`${JSON.stringify({ seeds: seeds.length, deliveries, ...counts })}\n`)
  return failures.length === 0 ? 0 : 1
}

process.exitCode = await main()
