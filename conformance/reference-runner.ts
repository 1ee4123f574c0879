/**
 * A whole runner of protocol v1 that reviews nothing: `node conformance/reference-runner.ts`. To be read by whoever writes a runner in
 * another language (docs/runner-protocol.md tells the reasons), and to be run against a server under test, in any number of processes.
 *
 *     SERVER   address of the server
 *     TOKEN    the runner's token
 *     NAME     shown on pages; default "reference-runner"
 *     KINDS    review kinds it claims to be able to do, separated by commas; default "diff,dynamic"
 *     WORK_MS  how long it pretends to work on a job, in milliseconds; default 0
 *
 * Each step is a JSON line on stdout: `step` is waiting, leased, handed_over, failed, released or dropped. SIGTERM and SIGINT: the job is
 * given back and the process ends with 0; a second signal ends it at once.
 */
import { randomUUID } from "node:crypto"
import { setTimeout as delay } from "node:timers/promises"
import { errorCode } from "@galley/contract/errors"
import type { Heartbeat, Lease } from "@galley/contract/protocol"
import { ReviewKind } from "@galley/contract/settings"
import { noUsage } from "@galley/contract/usage"
import { carryOver } from "./carry-over.ts"
import { keepLease } from "./keep-lease.ts"
import { isoAfter, leaseRequest } from "./lease-request.ts"
import { credentials, failure, heartbeat, mayPass, poll, release, result, type Server } from "./protocol-client.ts"

const FIRST_RETRY_MS = 200
const LONGEST_RETRY_MS = 5_000
const BEAT: Heartbeat = { phase: "reviewing", progress: "pretending to work", usage: noUsage }

type Settings = Readonly<{ server: Server; name: string; kinds: readonly ReviewKind[]; workMs: number }>

const tell = (step: string, fields: Record<string, unknown>) => process.stdout.write(`${JSON.stringify({ step, ...fields })}\n`)

/** Grows with each try, and differs between runners that lost the same server. */
const retryMs = (tries: number) => Math.min(FIRST_RETRY_MS * 2 ** tries, LONGEST_RETRY_MS) * (0.5 + Math.random() / 2)

/** Takes one job after the other. Only an answer ends a request: when it was lost on the way, the same id gets the same lease again. */
async function run(settings: Settings, stopping: AbortSignal): Promise<void> {
  let requestId = randomUUID()
  let tries = 0
  while (!stopping.aborted) {
    try {
      const lease = await poll(settings.server, { ...leaseRequest(settings.name, settings.kinds), requestId }, stopping)
      requestId = randomUUID()
      tries = 0
      if (lease !== null) await workOn(lease, settings, stopping)
    } catch (error) {
      if (stopping.aborted) return
      tell("waiting", { code: errorCode(error) })
      await delay(retryMs(tries++), undefined, { signal: stopping }).catch(() => undefined)
    }
  }
}

/** From a lease to its end. Never throws: what cannot be told to the server is settled when the lease runs out. */
async function workOn(lease: Lease, settings: Settings, stopping: AbortSignal): Promise<void> {
  const about = { leaseId: lease.leaseId, jobId: lease.job.id, fence: lease.fence, attempt: lease.attempt }
  tell("leased", about)
  try {
    tell(await reviewAndConclude(lease, settings, stopping), about)
  } catch (error) {
    tell("dropped", { ...about, code: errorCode(error) })
  }
}

async function reviewAndConclude(lease: Lease, { server, workMs }: Settings, stopping: AbortSignal): Promise<string> {
  const finished = new AbortController()
  const unwanted = new AbortController()
  const kept = keepLease(server, lease, BEAT, finished.signal).finally(() => unwanted.abort())
  const timeout = AbortSignal.timeout(lease.limits.jobTimeoutMs)
  const fault = await pretend(server, lease, workMs, AbortSignal.any([stopping, unwanted.signal, timeout]))
  // No heartbeat beside the hand-over: the stored result ends the lease, and its repetition must not be given up for that.
  finished.abort()
  const end = await kept
  const until = AbortSignal.timeout(lease.leaseMs)
  const code = timeout.aborted ? "job_timeout" : errorCode(fault)
  if (end === "lease_lost" || code === "lease_lost") return "dropped"
  if (end !== null || stopping.aborted) {
    // The heartbeat tells what was used up; a release carries nothing.
    await persist(() => heartbeat(server, lease, BEAT, until), until)
    await persist(() => release(server, lease, until), until)
    return "released"
  }
  if (fault === null) {
    const body = carryOver(lease, isoAfter(0))
    await persist(() => result(server, lease, body, until), until)
    return "handed_over"
  }
  const retryable = ["github_unavailable", "github_rate_limited"].includes(code)
  await persist(() => failure(server, lease, { fence: lease.fence, code, detail: "", retryable, usage: noUsage }, until), until)
  return "failed"
}

/** Where a real runner checks out, starts its engine and kills it when `signal` aborts. @returns the fault that ended it, or null */
async function pretend(server: Server, lease: Lease, workMs: number, signal: AbortSignal): Promise<unknown> {
  try {
    await persist(() => credentials(server, lease, signal), signal)
    await delay(workMs, undefined, { signal })
    return null
  } catch (fault) {
    return fault
  }
}

/** Sends the same again until it is answered or refused, or `signal` aborts. */
async function persist(send: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await send()
      return
    } catch (error) {
      if (!mayPass(error)) throw error
      await delay(retryMs(tries), undefined, { signal }).catch(() => {
        throw error
      })
    }
  }
}

function settingsOf({ SERVER, TOKEN, NAME, KINDS, WORK_MS }: NodeJS.ProcessEnv): Settings {
  if (!SERVER || !TOKEN) throw new Error("SERVER and TOKEN are needed")
  const kinds = (KINDS || "diff,dynamic").split(",").map((kind) => ReviewKind.parse(kind))
  return {
    server: { url: SERVER.replace(/\/+$/, ""), token: TOKEN },
    name: NAME || "reference-runner",
    kinds,
    workMs: Number(WORK_MS ?? 0),
  }
}

const stop = new AbortController()
for (const name of ["SIGTERM", "SIGINT"] as const) process.once(name, () => stop.abort())
await run(settingsOf(process.env), stop.signal)
