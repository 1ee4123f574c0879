import type { Bench, BenchOptions } from "../bench.ts"
import { type Bar, judge } from "../measure/bar.ts"
import { runLanes } from "../measure/lanes.ts"
import { median } from "../measure/statistics.ts"
import { type Rounds, ratios, takeTurns } from "../measure/turns.ts"
import { type Cluster, startCluster } from "../rig/cluster.ts"
import type { Contender } from "./contender.ts"
import { openGalleyQueue } from "./galley-queue.ts"
import { openGraphileQueue } from "./graphile-queue.ts"
import { benchGrowth } from "./growth.ts"
import { openPgBossQueue } from "./pg-boss-queue.ts"
import { benchPickup } from "./pickup.ts"
import { openRawQueue } from "./raw-queue.ts"

const LANES = [1, 8, 64]
/** Waiting at the start of each turn of taking, so that no contender runs dry. */
const STOCK = 8_000

type Rate = Readonly<{ perSecond: number; databaseUs: number; clientUs: number }>

/** Jobs a second in and out of the queue, whether its size slows it, and how soon a waiting runner gets a job. */
export const benchQueue: Bench = async (options) => {
  const cluster = await startCluster()
  try {
    return [...(await benchRates(cluster, options)), ...(await benchGrowth(cluster, options)), ...(await benchPickup(cluster, options))]
  } finally {
    await cluster.stop()
  }
}

async function benchRates(cluster: Cluster, { quick, note }: BenchOptions): Promise<Bar[]> {
  const fail = (error: unknown) => note(`background fault: ${error}`)
  const contenders: Record<string, Contender> = {
    raw: await openRawQueue(await cluster.createDatabase("raw_queue")),
    "pg-boss": await openPgBossQueue(await cluster.createDatabase("pg_boss_queue"), fail),
    "graphile-worker": await openGraphileQueue(await cluster.createDatabase("graphile_queue")),
    galley: await openGalleyQueue(await cluster.createDatabase("galley_queue", { migrated: true }), fail),
  }
  const [rounds, durationMs] = quick ? [3, 300] : [7, 1_000]
  const bars: Bar[] = []
  try {
    const turns = (measure: (contender: Contender) => Promise<Rate>) =>
      Object.fromEntries(Object.entries(contenders).map(([name, contender]) => [name, () => measure(contender)]))
    for (const lanes of LANES) {
      const enqueued = await takeTurns(
        turns((contender) => measure(cluster, () => enqueueRate(contender, lanes, durationMs))),
        rounds,
      )
      bars.push(...barsOf(`enqueue/s, ${lanes} producers`, enqueued, { atLeast: 0.7 }, note))
    }
    for (const contender of Object.values(contenders)) await contender.fill(STOCK)
    for (const contender of Object.values(contenders)) await contender.analyze()
    for (const lanes of LANES) {
      const taken = await takeTurns(
        turns((contender) => takenRate(cluster, contender, lanes, durationMs)),
        rounds,
      )
      bars.push(...barsOf(`claim + complete/s, ${lanes} runners`, taken, { atLeast: 0.55 }, note), aheadOfPgBoss(lanes, taken))
    }
    return bars
  } finally {
    for (const contender of Object.values(contenders)) await contender.close()
  }
}

type Counted = Readonly<{ perSecond: number; count: number }>

async function measure(cluster: Cluster, work: () => Promise<Counted>): Promise<Rate> {
  const before = { database: cluster.cpuMs(), client: process.cpuUsage() }
  const { perSecond, count } = await work()
  const client = process.cpuUsage(before.client)
  return {
    perSecond,
    databaseUs: ((cluster.cpuMs() - before.database) * 1000) / count,
    clientUs: (client.user + client.system) / count,
  }
}

async function enqueueRate(contender: Contender, lanes: number, durationMs: number): Promise<Counted> {
  return runLanes(lanes, durationMs, async () => {
    await contender.enqueue()
    return true
  })
}

/** Tops the queue up before it takes jobs, outside the measurement. */
async function takenRate(cluster: Cluster, contender: Contender, lanes: number, durationMs: number): Promise<Rate> {
  const { cycle, process: processJobs } = contender
  const rate = await measure(cluster, async () => {
    if (cycle !== null) return runLanes(lanes, durationMs, cycle)
    const perSecond = (await processJobs?.(lanes, durationMs)) ?? 0
    return { perSecond, count: (perSecond * durationMs) / 1000 }
  })
  await contender.fill(Math.ceil((rate.perSecond * durationMs * 1.6) / 1000))
  return rate
}

function barsOf(metric: string, rates: Rounds<Rate>, demand: { atLeast: number }, note: (line: string) => void): Bar[] {
  const of = (name: string) => (rates[name] ?? []).map((rate) => rate.perSecond)
  for (const [name, rounds] of Object.entries(rates)) {
    const { median: middle, low, high } = ratios(of(name), of("raw"))
    const us = (pick: (rate: Rate) => number) => Math.round(median(rounds.map(pick)))
    note(
      `${metric}, ${name}: ${Math.round(median(of(name)))}, ${middle.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)}) of raw; ` +
        `CPU a job ${us((rate) => rate.databaseUs)} us Postgres + ${us((rate) => rate.clientUs)} us client`,
    )
  }
  return [judge({ ...factsOf(metric, of), ratio: ratios(of("galley"), of("raw")).median }, demand)]
}

function aheadOfPgBoss(lanes: number, rates: Rounds<Rate>): Bar {
  const of = (name: string) => (rates[name] ?? []).map((rate) => rate.perSecond)
  const ratio = ratios(of("galley"), of("pg-boss")).median
  return judge({ ...factsOf(`claim + complete/s beside pg-boss, ${lanes} runners`, of), ratio }, { above: 1 })
}

function factsOf(metric: string, of: (name: string) => number[]) {
  return {
    bench: "queue",
    metric,
    ours: median(of("galley")),
    limit: median(of("raw")),
    peers: { "pg-boss": median(of("pg-boss")), "graphile-worker": median(of("graphile-worker")) },
  }
}
