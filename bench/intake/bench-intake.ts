import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { startFakeGitHub } from "@galley/fake-github"
import postgres, { type Sql } from "postgres"
import { makeSampleRepository } from "../../scripts/demo/sample-repository.ts"
import type { Bench } from "../bench.ts"
import { type Bar, judge } from "../measure/bar.ts"
import { runLanes } from "../measure/lanes.ts"
import { median, quantile } from "../measure/statistics.ts"
import { type Rounds, ratios, takeTurns } from "../measure/turns.ts"
import { type Cluster, startCluster } from "../rig/cluster.ts"
import { APP_ID, activateProject, startGalleyServer } from "../rig/galley-server.ts"
import { type Server, startServer } from "../rig/start-server.ts"
import { BENCH_SECRET, type Deliveries, makeDeliveries } from "./deliveries.ts"
import { openConnection } from "./keep-alive-client.ts"

const CONNECTIONS = 32
const PULL_REQUESTS = 200
const OPEN_LOOP_PER_SECOND = 100
const OPEN_LOOP_CONNECTIONS = 64

type Contender = Readonly<{ server: Server; deliveries: Deliveries; stored: () => Promise<number> }>
type Rate = Readonly<{ perSecond: number; serverMs: number; databaseMs: number }>

/** Signed deliveries per second, each on the disk before its 202, and how soon the answer comes when they arrive one by one. */
export const benchIntake: Bench = async ({ quick, note }) => {
  const stops: (() => Promise<unknown>)[] = []
  try {
    const cluster = await startCluster()
    stops.push(cluster.stop)
    const contenders = await startContenders(cluster, stops)
    const each = <T>(measure: (contender: Contender) => Promise<T>) =>
      Object.fromEntries(Object.entries(contenders).map(([name, contender]) => [name, () => measure(contender)]))

    const rounds = quick ? 3 : 7
    const rates = await takeTurns(
      each((contender) => measureRate(contender, cluster, quick ? 1_500 : 3_000)),
      rounds,
    )
    const latencies = await takeTurns(
      each((contender) => measureOpenLoop(contender, quick ? 1_000 : 3_000)),
      rounds,
    )
    report(rates, note)
    return [rateBar(rates), ...latencyBars(latencies, note)]
  } finally {
    for (const stop of stops.reverse()) await stop()
  }
}

async function startContenders(cluster: Cluster, stops: (() => Promise<unknown>)[]): Promise<Record<string, Contender>> {
  const directory = await mkdtemp(join(tmpdir(), "galley-bench-logs-"))
  stops.push(() => rm(directory, { recursive: true, force: true }))
  const plain = async (name: string): Promise<Contender> => {
    const url = await cluster.createDatabase(name)
    const sql = openSql(url, stops)
    await sql`create table deliveries (id uuid primary key, event text not null, pull_request integer not null, head_sha text not null,
      received_at timestamptz not null default now())`
    const program = new URL(`./serve-${name}.ts`, import.meta.url).pathname
    const server = await startServer(
      [program],
      (port) => ({ PORT: String(port), SECRET: BENCH_SECRET, URL: url }),
      join(directory, `${name}.log`),
    )
    stops.push(server.stop)
    return { server, deliveries: makeDeliveries("/", PULL_REQUESTS), stored: () => count(sql, "deliveries") }
  }
  const ours = async (): Promise<Contender> => {
    const url = await cluster.createDatabase("galley", { migrated: true })
    const deliveries = makeDeliveries("/webhooks/github", PULL_REQUESTS)
    const github = await startFakeGitHub({ appId: APP_ID })
    stops.push(() => github.close())
    const { gitDirectory } = makeSampleRepository(join(directory, "repository"))
    await github.registerRepository({ ...deliveries.repository, installationId: deliveries.installationId, gitDirectory })
    const logFile = join(directory, "galley.log")
    const server = await startGalleyServer({
      databaseUrl: url,
      github,
      webhookSecret: BENCH_SECRET,
      runnerToken: "token-of-no-runner-of-the-benchmark",
      logFile,
    })
    stops.push(server.stop)
    const sql = openSql(url, stops)
    await activateProject(sql)
    return { server, deliveries, stored: () => count(sql, "webhook_deliveries where outcome = 'queued'") }
  }
  return { raw: await plain("raw"), octokit: await plain("octokit"), galley: await ours() }
}

function openSql(url: string, stops: (() => Promise<unknown>)[]): Sql {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  stops.push(() => sql.end())
  return sql
}

async function count(sql: Sql, from: string): Promise<number> {
  const [row] = await sql.unsafe<{ n: number }[]>(`select count(*)::int as n from ${from}`)
  return row?.n ?? 0
}

/** Closed loop: as many deliveries as the contender takes. Throws when one was not accepted or not stored. */
async function measureRate({ server, deliveries, stored }: Contender, cluster: Cluster, durationMs: number): Promise<Rate> {
  const connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => openConnection(server.port)))
  try {
    const before = { stored: await stored(), server: server.cpuMs(), database: cluster.cpuMs() }
    const load = await runLanes(CONNECTIONS, durationMs, async (lane) => {
      const status = await connections[lane]?.send(...deliveries.next())
      if (status === undefined || status < 200 || status > 299) throw new Error(`a delivery was answered with ${status}`)
      return true
    })
    const used = { server: server.cpuMs() - before.server, database: cluster.cpuMs() - before.database }
    const kept = (await stored()) - before.stored
    if (kept !== load.count) throw new Error(`${load.count} deliveries were acknowledged, ${kept} are stored`)
    return { perSecond: load.perSecond, serverMs: used.server / load.count, databaseMs: used.database / load.count }
  } finally {
    for (const connection of connections) connection.close()
  }
}

/** Open loop: deliveries come at a fixed pace whatever the contender does, and count from when they were due, so that stalls show. */
async function measureOpenLoop({ server, deliveries }: Contender, durationMs: number): Promise<number[]> {
  const idle = await Promise.all(Array.from({ length: OPEN_LOOP_CONNECTIONS }, () => openConnection(server.port)))
  const all = [...idle]
  try {
    const startedAt = performance.now()
    const answers = Array.from({ length: (durationMs / 1000) * OPEN_LOOP_PER_SECOND }, async (_, index) => {
      const due = (index * 1000) / OPEN_LOOP_PER_SECOND
      await delay(Math.ceil(due - (performance.now() - startedAt)))
      const connection = idle.pop()
      if (connection === undefined) throw new Error(`more than ${OPEN_LOOP_CONNECTIONS} deliveries were under way`)
      const sentAt = performance.now() - startedAt
      // A timer fires up to a millisecond late, which is not the server's time; a stall of this process is not hidden.
      const at = sentAt - due < 2 ? sentAt : due
      await connection.send(...deliveries.next())
      idle.push(connection)
      return performance.now() - startedAt - at
    })
    return await Promise.all(answers)
  } finally {
    for (const connection of all) connection.close()
  }
}

function report(rates: Rounds<Rate>, note: (line: string) => void): void {
  for (const [name, rounds] of Object.entries(rates)) {
    const of = (pick: (rate: Rate) => number) => median(rounds.map(pick))
    const { low, high } = ratios(
      rounds.map((rate) => rate.perSecond),
      (rates.raw ?? []).map((rate) => rate.perSecond),
    )
    note(
      `rate ${name}: ${Math.round(of((rate) => rate.perSecond))}/s, ${low.toFixed(2)} to ${high.toFixed(2)} of raw; CPU a delivery ` +
        `${of((rate) => rate.serverMs).toFixed(3)} ms server + ${of((rate) => rate.databaseMs).toFixed(3)} ms Postgres`,
    )
  }
}

function rateBar(rates: Rounds<Rate>): Bar {
  const of = (name: string) => (rates[name] ?? []).map((rate) => rate.perSecond)
  const facts = {
    bench: "intake",
    metric: "deliveries/s, 32 connections",
    ours: median(of("galley")),
    limit: median(of("raw")),
    peers: { octokit: median(of("octokit")) },
    ratio: ratios(of("galley"), of("raw")).median,
  }
  return judge(facts, { atLeast: 0.8 })
}

function latencyBars(latencies: Rounds<number[]>, note: (line: string) => void): Bar[] {
  const bar = (share: number, atMost: number) => {
    const of = (name: string) => (latencies[name] ?? []).map((round) => quantile(round, share))
    const ratio = ratios(of("galley"), of("raw"))
    note(`latency p${share * 100}: ${ratio.low.toFixed(2)} to ${ratio.high.toFixed(2)} times raw`)
    const facts = {
      bench: "intake",
      metric: `ms p${share * 100} at 100/s, from when the delivery was due`,
      ours: median(of("galley")),
      limit: median(of("raw")),
      peers: { octokit: median(of("octokit")) },
      ratio: ratio.median,
    }
    return judge(facts, { atMost })
  }
  return [bar(0.5, 1.5), bar(0.99, 2)]
}
