/** A stand-in until the reference runner is there. */
import { randomUUID } from "node:crypto"
import { setTimeout as delay } from "node:timers/promises"
import { Lease } from "@galley/contract/protocol"
import { noUsage } from "@galley/contract/usage"
import { MARKER, stateBlock } from "@galley/findings/comment-state"

const [url = "", token = "", name = "", slots = "1", workMs = "50"] = process.argv.slice(2)
const stopping = new AbortController()
process.on("SIGTERM", () => stopping.abort())
const post = (path: string, body: unknown, lease?: Lease, signal?: AbortSignal) =>
  fetch(`${url}/runner/v1${path}`, {
    method: "POST",
    body: JSON.stringify(body),
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      ...(lease && { "galley-lease-token": lease.leaseToken }),
    },
    signal: AbortSignal.any([AbortSignal.timeout(20_000), ...(signal ? [signal] : [])]),
  })

function resultOf(lease: Lease) {
  const { headSha } = lease.job
  const state = { schema_version: 1 as const, findings: [], last_run: { head_sha: headSha, complete: true, kind: "full" as const } }
  return {
    outcome: "reviewed",
    fence: lease.fence,
    reviewedSha: headSha,
    state,
    findings: [],
    coverage: {
      status: "complete",
      changedFiles: 1,
      reviewedFiles: 1,
      examinedPaths: [],
      omitted: { omissions: [], total: 0 },
      comparison: "none",
    },
    usage: { ...noUsage, modelCalls: 1 },
    trace: { engine: { name: "small", version: "1" }, steps: [], droppedFindings: [] },
    comment: `## Galley\n\n${MARKER}\n\nrun ${lease.leaseId}\n\n${stateBlock(state)}`,
  }
}

async function again(send: () => Promise<Response>): Promise<Response> {
  for (;;) {
    try {
      const answer = await send()
      if (answer.status < 500) return answer
    } catch {}
    await delay(200)
  }
}

async function slot() {
  while (!stopping.signal.aborted) {
    const now = Date.now()
    const request = {
      requestId: randomUUID(),
      runnerName: name,
      runnerVersion: "0.1.0",
      freeSlots: 1,
      waitMs: 5_000,
      capabilities: [
        {
          kind: "diff",
          engineVersion: "1",
          boundary: "enforced",
          checkedAt: new Date(now).toISOString(),
          expiresAt: new Date(now + 600_000).toISOString(),
        },
      ],
    }
    const answer = await again(() => post("/leases", request))
    if (answer.status === 204) continue
    if (answer.status !== 200) {
      await delay(500)
      continue
    }
    const lease = Lease.parse(await answer.json())
    const heartbeat = await again(() =>
      post(`/leases/${lease.leaseId}/heartbeat`, { phase: "reviewing", progress: "", usage: noUsage }, lease),
    )
    if (heartbeat.status !== 200) continue
    const { action } = (await heartbeat.json()) as { action: string }
    await delay(Number(workMs))
    if (action !== "continue" || stopping.signal.aborted) await again(() => post(`/leases/${lease.leaseId}/release`, {}, lease))
    else {
      const end = await again(() => post(`/leases/${lease.leaseId}/result`, resultOf(lease), lease))
      if (end.status !== 200) process.stdout.write(`${lease.leaseId} ${end.status} ${await end.text()}\n`)
    }
  }
}
process.stdout.write('{"msg":"runner ready"}\n')
await Promise.all(Array.from({ length: Number(slots) }, slot))
