import { setTimeout as delay } from "node:timers/promises"
import type { BenchOptions } from "../bench.ts"
import { type Bar, judge } from "../measure/bar.ts"
import { quantile } from "../measure/statistics.ts"
import { takeTurns } from "../measure/turns.ts"
import type { Cluster } from "../rig/cluster.ts"
import { openGalleyPickup } from "./galley-pickup.ts"
import { openPgBossPickup } from "./pg-boss-pickup.ts"
import { openRawPickup } from "./raw-pickup.ts"

/** A queue with one waiting runner. Who opens it is given `stops` and adds there, at once, how to stop each thing it started. */
export type Pickup = Readonly<{
  /** Lets the runner wait for a job. @returns the time at which it had one, as of `performance.now()` */
  wait(): Promise<number>
  /** Sends one job. */
  send(): Promise<unknown>
  /** Ends the job that was taken, outside the measurement. */
  end(): Promise<void>
}>

export type Stops = (() => Promise<unknown>)[]

const LIMIT_MS = 5
/** The runner must be waiting before its job comes. */
const SETTLE_MS = 40

/**
 * How soon a waiting runner has its job, over HTTP and through the real server: from the moment a webhook is sent until the answer of the
 * long poll has been read. It contains intake, wake-up, claim, and the server's look at the pull request's comments on the fake GitHub. pg-boss
 * runs in this process, without HTTP.
 */
export async function benchPickup(cluster: Cluster, { quick, note }: BenchOptions): Promise<Bar[]> {
  const stops: Stops = []
  try {
    const contenders: Record<string, Pickup> = {}
    contenders.raw = await openRawPickup(await cluster.createDatabase("raw_pickup"), stops)
    const onError = (error: unknown) => note(`background fault: ${error}`)
    contenders["pg-boss"] = await openPgBossPickup(await cluster.createDatabase("pg_boss_pickup"), onError, stops)
    contenders.galley = await openGalleyPickup(await cluster.createDatabase("pickup", { migrated: true }), stops)
    const turns = Object.fromEntries(Object.entries(contenders).map(([name, contender]) => [name, () => pickOne(contender)]))
    const tookMs = await takeTurns(turns, quick ? 60 : 300)
    const of = (name: string, share: number) => quantile(tookMs[name] ?? [], share)
    for (const name of Object.keys(contenders)) {
      note(`pickup ${name}: p50 ${of(name, 0.5).toFixed(1)} ms, p90 ${of(name, 0.9).toFixed(1)} ms, p99 ${of(name, 0.99).toFixed(1)} ms`)
    }
    const facts = { bench: "queue", metric: "ms p50 from webhook to lease, idle, beside 5 ms" }
    const ours = of("galley", 0.5)
    const rest = { ours, limit: of("raw", 0.5), peers: { "pg-boss": of("pg-boss", 0.5) }, ratio: ours / LIMIT_MS }
    return [judge({ ...facts, ...rest }, { atMost: 1 })]
  } finally {
    for (const stop of stops.reverse()) await stop()
  }
}

async function pickOne({ wait, send, end }: Pickup): Promise<number> {
  const taken = wait()
  await delay(SETTLE_MS)
  const sentAt = performance.now()
  await send()
  const tookMs = (await taken) - sentAt
  await end()
  return tookMs
}
