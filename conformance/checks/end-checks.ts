import { randomUUID } from "node:crypto"
import type { Lease } from "@galley/contract/protocol"
import { noUsage } from "@galley/contract/usage"
import { beat, bodyOf, failureOf, type LeaseVerb, resultOf } from "../body-of.ts"
import { type Check, withJob, withTwoJobs } from "../check.ts"
import { must, mustBeDone, mustBeRefused, mustEqual } from "../must.ts"
import { mustLease } from "../subject.ts"

const otherSha = "9".repeat(40)
const otherState = { schema_version: 1, findings: [], last_run: { head_sha: otherSha } }

type Wrong = readonly [what: string, body: (lease: Lease) => object, code: string, field?: string]

const wrongResults: readonly Wrong[] = [
  ["another lease's fence", (lease) => resultOf(lease, { fence: lease.fence + 1 }), "request_invalid", "fence"],
  ["another head", (lease) => resultOf(lease, { reviewedSha: otherSha }), "head_sha_mismatch", "reviewedSha"],
  ["a state of another head", (lease) => resultOf(lease, { state: otherState }), "head_sha_mismatch", "state.last_run.head_sha"],
  ["a comment without its state", (lease) => resultOf(lease, { comment: "no state" }), "comment_invalid"],
  ["a comment over 65,000 characters", (lease) => resultOf(lease, { comment: "x".repeat(65_001) }), "comment_too_large"],
  ["an unknown outcome", (lease) => resultOf(lease, { outcome: "guessed" }), "request_invalid", "outcome"],
  ["an unknown field", (lease) => resultOf(lease, { tip: 1 }), "request_invalid", "tip"],
  ["usage out of bounds", (lease) => resultOf(lease, { usage: { ...noUsage, toolCalls: -1 } }), "request_invalid", "usage.toolCalls"],
  ["a NUL in a text", (lease) => resultOf(lease, { comment: "a\0b" }), "request_invalid"],
]

const wrongFailures: readonly Wrong[] = [
  ["another lease's fence", (lease) => failureOf(lease, { fence: lease.fence + 1 }), "request_invalid", "fence"],
  ["a code in words", (lease) => failureOf(lease, { code: "It broke" }), "request_invalid", "code"],
  ["a detail over 2,000 characters", (lease) => failureOf(lease, { detail: "x".repeat(2_001) }), "request_invalid", "detail"],
  ["no word on another try", (lease) => failureOf(lease, { retryable: undefined }), "request_invalid", "retryable"],
  ["usage out of bounds", (lease) => failureOf(lease, { usage: { ...noUsage, toolFiles: 1.5 } }), "request_invalid", "usage.toolFiles"],
]

function refuses(verb: LeaseVerb, cases: readonly Wrong[]): Check {
  return withJob(`${verb}: refuses what does not fit its lease or its bounds with 422, and the lease goes on`, async ({ on }, lease) => {
    for (const [what, body, code, field] of cases) mustBeRefused(await on(lease, verb, body(lease)), 422, code, what, field)
    mustBeDone(await on(lease, "heartbeat", beat()), "a heartbeat afterwards")
  })
}

/** How a lease ends. Most of these use up the job that they get. */
export const endChecks: readonly Check[] = [
  refuses("result", wrongResults),
  refuses("failure", wrongFailures),
  withTwoJobs("failure: brings the job back later when it may pass, and never when it may not", async (subject, passing, final) => {
    mustBeDone(await subject.on(final, "failure", failureOf(final, { code: "input_too_large", retryable: false })), "a final failure")
    mustBeDone(await subject.on(passing, "failure", failureOf(passing)), "a retryable failure")
    mustBeRefused(await subject.on(passing, "heartbeat", beat()), 409, "lease_lost", "a heartbeat after the failure")
    mustEqual(await subject.leaseJob(passing.job.id, 0), null, "the job right after its failure")
    const next = mustLease(await subject.leaseJob(passing.job.id, passing.leaseMs), "the job after its failure, within the time of a lease")
    must(next.fence > passing.fence && next.attempt > passing.attempt, "fence and attempt grow with every lease")
    await subject.leaseAll()
    must(!subject.holds(final.job.id), "the job was leased again after its final failure")
  }),
  withJob("result: is taken once; the same body again is answered alike", async ({ on }, lease) => {
    const body = resultOf(lease)
    for (const answer of await Promise.all([on(lease, "result", body), on(lease, "result", body)]))
      mustBeDone(answer, "two at the same time")
    mustBeDone(await on(lease, "result", body), "once more")
  }),
  withJob("result: refuses another body for the same lease with 409 result_conflict", async ({ on }, lease) => {
    const body = resultOf(lease)
    mustBeDone(await on(lease, "result", body), "a result")
    const other = { ...body, usage: { ...noUsage, modelCalls: 1 } }
    mustBeRefused(await on(lease, "result", other), 409, "result_conflict", "another result")
    mustBeDone(await on(lease, "result", body), "the first result again")
  }),
  withJob("result: ends the lease for every other verb and for its request id", async (subject, given) => {
    await subject.giveBack(given)
    const requestId = randomUUID()
    const lease = mustLease(await subject.poll({ requestId }), "a poll")
    mustBeDone(await subject.on(lease, "result", resultOf(lease)), "a result")
    for (const verb of ["credentials", "heartbeat", "failure", "release"] as const) {
      mustBeRefused(await subject.on(lease, verb, bodyOf(verb, lease)), 409, "lease_lost", `${verb} after the result`)
    }
    mustEqual(await subject.poll({ requestId }), null, "the same request again")
    mustEqual(await subject.leaseJob(lease.job.id, 0), null, "the job after its result")
  }),
  withJob("result: takes a review that was skipped because nothing could be reviewed", async ({ on }, lease) => {
    const { fence, reviewedSha, coverage, usage, trace } = resultOf(lease)
    const body = { outcome: "skipped", code: "no_reviewable_files", fence, reviewedSha, coverage, usage, trace }
    mustBeDone(await on(lease, "result", body), "a skipped review")
  }),
]
