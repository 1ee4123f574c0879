import { setTimeout as delay } from "node:timers/promises"
import { Credentials, type Lease } from "@galley/contract/protocol"
import { noUsage } from "@galley/contract/usage"
import { beat, bodyOf, leaseVerbs } from "../body-of.ts"
import { type Check, withJob, withTwoJobs } from "../check.ts"
import { must, mustBeDone, mustBeRefused, mustEqual } from "../must.ts"
import { mustLease, type Subject } from "../subject.ts"

const wrongBeats: readonly (readonly [what: string, body: object, field: string])[] = [
  ["fewer than no model calls", beat({ modelCalls: -1 }), "usage.modelCalls"],
  ["half a token", beat({ inputTokens: 0.5 }), "usage.inputTokens"],
  ["a cost below nothing", beat({ costUsd: -1 }), "usage.costUsd"],
  ["a usage without its cost", { ...beat(), usage: { ...noUsage, costUsd: undefined } }, "usage.costUsd"],
  ["a usage nobody knows", { ...beat(), usage: { ...noUsage, tips: 1 } }, "usage.tips"],
  ["a progress over 200 characters", { ...beat(), progress: "x".repeat(201) }, "progress"],
  ["an unknown phase", { ...beat(), phase: "dreaming" }, "phase"],
]

/** What a runner may do with a lease, and how long. */
export const leaseChecks: readonly Check[] = [
  withJob("credentials: gives what the lease does not hold", async ({ on }, lease) => {
    const answer = await on(lease, "credentials", {})
    mustBeDone(answer, "credentials")
    const { githubToken, model } = Credentials.parse(answer.body)
    for (const secret of [githubToken, model.apiKey]) {
      must(secret === "" || !JSON.stringify(lease).includes(secret), "a credential stands in the lease, which may be logged")
    }
  }),
  withJob("heartbeat: answers continue as long as the job is wanted", async ({ on }, lease) => {
    for (const phase of ["preparing", "starting_engine", "reviewing", "reconciling", "handing_over"]) {
      mustEqual((await on(lease, "heartbeat", { ...beat(), phase })).body, { action: "continue" }, phase)
    }
  }),
  withJob("heartbeat: refuses usage and texts out of bounds with 422 request_invalid and the field", async ({ on }, lease) => {
    for (const [what, body, field] of wrongBeats) mustBeRefused(await on(lease, "heartbeat", body), 422, "request_invalid", what, field)
  }),
  withJob("heartbeat: keeps what an attempt used for the next one", async (subject, lease) => {
    const usage = { ...noUsage, modelCalls: 2, inputTokens: 70 }
    mustBeDone(await subject.on(lease, "heartbeat", beat(usage)), "a heartbeat with usage")
    await subject.giveBack(lease)
    const next = mustLease(await subject.leaseJob(lease.job.id, 0), "the job that was given back")
    mustEqual(next.usageSoFar.modelCalls, lease.usageSoFar.modelCalls + 2, "model calls so far")
    mustEqual(next.usageSoFar.inputTokens, lease.usageSoFar.inputTokens + 70, "input tokens so far")
  }),
  withJob("release: gives the job back at once, as often as wanted, because no attempt is counted", async (subject, first) => {
    let lease = first
    for (let round = 0; round < 5; round++) {
      mustBeDone(await subject.on(lease, "release", {}), "a release")
      const next = mustLease(await subject.leaseJob(first.job.id, 0), `the job after ${round + 1} releases`)
      must(next.fence > lease.fence && next.attempt > lease.attempt, "fence and attempt grow with every lease")
      lease = next
    }
  }),
  {
    ...withTwoJobs("lease: lives on heartbeats; without them it ends in time, and its job comes back", outlive),
    slow: true,
  },
]

/** How close to a lease's end the job must still be nobody else's, and how far behind it the lease must be over. */
const BEFORE = 0.9
const BEHIND = 1.03

async function outlive(subject: Subject, kept: Lease, silent: Lease): Promise<void> {
  const startedAt = performance.now()
  const keepUntil = async (part: number) => {
    for (;;) {
      mustBeDone(await subject.on(kept, "heartbeat", beat()), "a heartbeat in time")
      const leftMs = startedAt + part * silent.leaseMs - performance.now()
      if (leftMs <= 0) return
      await delay(Math.min(kept.heartbeatMs, leftMs))
    }
  }
  await keepUntil(BEFORE)
  for (const other of await subject.leaseAll()) {
    must(![kept.job.id, silent.job.id].includes(other.job.id), "a job was given away before its lease ended")
    await subject.giveBack(other)
  }
  await keepUntil(BEHIND)
  for (const verb of leaseVerbs) mustBeRefused(await subject.on(silent, verb, bodyOf(verb, silent)), 409, "lease_lost", `${verb} too late`)
  await subject.giveBack(kept)
  const next = mustLease(await subject.leaseJob(silent.job.id, 2 * silent.leaseMs), "the job whose runner fell silent")
  must(next.fence > silent.fence, "the fence grows with every lease")
}
