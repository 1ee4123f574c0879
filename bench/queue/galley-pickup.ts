import { randomUUID } from "node:crypto"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { LEASE_TOKEN_HEADER, Lease, RUNNER_PROTOCOL_PATH } from "@galley/contract/protocol"
import { noUsage } from "@galley/contract/usage"
import { startFakeGitHub } from "@galley/fake-github"
import postgres from "postgres"
import { makeSampleRepository } from "../../scripts/demo/sample-repository.ts"
import { BENCH_SECRET, makeDeliveries } from "../intake/deliveries.ts"
import { openConnection } from "../intake/keep-alive-client.ts"
import { APP_ID, activateProject, startGalleyServer } from "../rig/galley-server.ts"
import type { Pickup, Stops } from "./pickup.ts"

const RUNNER_TOKEN = "token-of-the-runner-of-the-benchmark"

/** The product's own server as a process, with the fake GitHub in this one. */
export async function openGalleyPickup(databaseUrl: string, stops: Stops): Promise<Pickup> {
  const directory = await mkdtemp(join(tmpdir(), "galley-bench-pickup-"))
  stops.push(() => rm(directory, { recursive: true, force: true }))
  const deliveries = makeDeliveries("/webhooks/github", 1)
  const github = await startFakeGitHub({ appId: APP_ID, rateLimitPerHour: 1_000_000 })
  stops.push(() => github.close())
  const { gitDirectory, baseSha, headSha } = makeSampleRepository(join(directory, "repository"))
  const { owner, name } = deliveries.repository
  await github.registerRepository({ ...deliveries.repository, installationId: deliveries.installationId, gitDirectory })
  await github.openPullRequest({ repo: `${owner}/${name}`, number: 1, baseSha, headRef: "change", headSha, title: "A change", body: "" })
  // The webhooks say that it is open. Here it is not, or the reconciler, when it comes by, would queue its review before them.
  await github.closePullRequest({ repo: `${owner}/${name}`, number: 1 })
  const logFile = join(directory, "galley.log")
  const server = await startGalleyServer({ databaseUrl, github, webhookSecret: BENCH_SECRET, runnerToken: RUNNER_TOKEN, logFile })
  stops.push(server.stop)
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} })
  stops.push(() => sql.end())
  await activateProject(sql)
  await sql`update projects set settings = settings || '{"debounceSeconds": 0}'`
  const hook = await openConnection(server.port)
  stops.push(async () => hook.close())
  let taken: unknown
  return {
    wait: async () => {
      const answer = await post(server.port, "/leases", pollBody())
      if (answer.status !== 200) throw new Error(`a poll was answered with ${answer.status}`)
      taken = await answer.json()
      return performance.now()
    },
    send: () => hook.send(...deliveries.next()),
    end: () => endJob(server.port, Lease.parse(taken)),
  }
}

function post(port: number, path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}${RUNNER_PROTOCOL_PATH}${path}`, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { authorization: `Bearer ${RUNNER_TOKEN}`, "content-type": "application/json", ...headers },
  })
}

function pollBody() {
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
  return { requestId: randomUUID(), runnerName: "bench", runnerVersion: "0.1.0", capabilities, freeSlots: 1, waitMs: 25_000 }
}

/** Ends the job for good, so that the next one of the same pull request is new. */
async function endJob(port: number, lease: Lease): Promise<void> {
  const failure = { fence: lease.fence, code: "engine_failed", detail: "the benchmark ends its jobs so", retryable: false, usage: noUsage }
  const answer = await post(port, `/leases/${lease.leaseId}/failure`, failure, { [LEASE_TOKEN_HEADER]: lease.leaseToken })
  if (answer.status !== 200) throw new Error(`a failure was answered with ${answer.status}`)
}
