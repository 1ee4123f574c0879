import { randomUUID } from "node:crypto"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { LEASE_TOKEN_HEADER, Lease, RUNNER_PROTOCOL_PATH } from "@galley/contract/protocol"
import { noUsage } from "@galley/contract/usage"
import { startFakeGitHub } from "@galley/fake-github"
import postgres from "postgres"
import { makeSampleRepository } from "../../scripts/demo/sample-repository.ts"
import type { BenchOptions } from "../bench.ts"
import { BENCH_SECRET, makeDeliveries } from "../intake/deliveries.ts"
import { openConnection } from "../intake/keep-alive-client.ts"
import { type Bar, judge } from "../measure/bar.ts"
import { quantile } from "../measure/statistics.ts"
import type { Cluster } from "../rig/cluster.ts"
import { APP_ID, activateProject, startGalleyServer } from "../rig/galley-server.ts"

const RUNNER_TOKEN = "token-of-the-runner-of-the-benchmark"
/** A poll must be waiting before its job comes. */
const SETTLE_MS = 40

/**
 * How soon a waiting runner has its lease, over HTTP and through the real server: from the moment a webhook is sent until the answer of the
 * long poll has been read. It contains intake, wake-up, claim, and the server's look at the pull request's comments on the fake GitHub.
 */
export async function benchPickup(cluster: Cluster, { quick, note }: BenchOptions): Promise<Bar[]> {
  const stops: (() => Promise<unknown>)[] = []
  try {
    const directory = await mkdtemp(join(tmpdir(), "galley-bench-pickup-"))
    stops.push(() => rm(directory, { recursive: true, force: true }))
    const databaseUrl = await cluster.createDatabase("pickup", { migrated: true })
    const deliveries = makeDeliveries("/webhooks/github", 1)
    const github = await startFakeGitHub({ appId: APP_ID, rateLimitPerHour: 1_000_000 })
    stops.push(() => github.close())
    const { gitDirectory, baseSha, headSha } = makeSampleRepository(join(directory, "repository"))
    const { owner, name } = deliveries.repository
    await github.registerRepository({ ...deliveries.repository, installationId: deliveries.installationId, gitDirectory })
    await github.openPullRequest({ repo: `${owner}/${name}`, number: 1, baseSha, headRef: "change", headSha, title: "A change", body: "" })
    const logFile = join(directory, "galley.log")
    const server = await startGalleyServer({ databaseUrl, github, webhookSecret: BENCH_SECRET, runnerToken: RUNNER_TOKEN, logFile })
    stops.push(server.stop)
    const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} })
    stops.push(() => sql.end())
    await activateProject(sql)
    await sql`update projects set settings = settings || '{"debounceSeconds": 0}'`

    const hook = await openConnection(server.port)
    stops.push(async () => hook.close())
    const latenciesMs: number[] = []
    for (let turn = -5; turn < (quick ? 60 : 300); turn++) {
      const lease = pollForLease(server.port)
      await delay(SETTLE_MS)
      const sentAt = performance.now()
      await hook.send(...deliveries.next())
      const { readAt, body } = await lease
      if (turn >= 0) latenciesMs.push(readAt - sentAt)
      await endJob(server.port, Lease.parse(body))
    }
    const [p50, p99] = [quantile(latenciesMs, 0.5), quantile(latenciesMs, 0.99)]
    note(
      `pickup: p50 ${p50.toFixed(1)} ms, p90 ${quantile(latenciesMs, 0.9).toFixed(1)} ms, p99 ${p99.toFixed(1)} ms of ${latenciesMs.length}`,
    )
    return [
      judge(
        { bench: "queue", metric: "ms p50 from webhook to lease, idle", ours: p50, limit: null, peers: {}, ratio: p50 / 5 },
        { atMost: 1 },
      ),
    ]
  } finally {
    for (const stop of stops.reverse()) await stop()
  }
}

function post(port: number, path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}${RUNNER_PROTOCOL_PATH}${path}`, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { authorization: `Bearer ${RUNNER_TOKEN}`, "content-type": "application/json", ...headers },
  })
}

async function pollForLease(port: number): Promise<{ readAt: number; body: unknown }> {
  const checkedAt = new Date()
  const proof = {
    engineVersion: "bench",
    boundary: "enforced" as const,
    checkedAt: checkedAt.toISOString(),
    expiresAt: new Date(checkedAt.getTime() + 3_600_000).toISOString(),
  }
  const capabilities = [
    { kind: "diff", ...proof },
    { kind: "dynamic", ...proof },
  ]
  const request = { requestId: randomUUID(), runnerName: "bench", runnerVersion: "0.1.0", capabilities, freeSlots: 1, waitMs: 25_000 }
  const answer = await post(port, "/leases", request)
  if (answer.status !== 200) throw new Error(`a poll was answered with ${answer.status}`)
  const body: unknown = await answer.json()
  return { readAt: performance.now(), body }
}

/** Ends the job for good, so that the next one of the same pull request is new. */
async function endJob(port: number, lease: Lease): Promise<void> {
  const failure = { fence: lease.fence, code: "engine_failed", detail: "the benchmark ends its jobs so", retryable: false, usage: noUsage }
  const answer = await post(port, `/leases/${lease.leaseId}/failure`, failure, { [LEASE_TOKEN_HEADER]: lease.leaseToken })
  if (answer.status !== 200) throw new Error(`a failure was answered with ${answer.status}`)
}
