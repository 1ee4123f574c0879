import { randomUUID } from "node:crypto"
import type { LeaseRequest } from "@galley/contract/protocol"
import { askServer } from "../ask-server.ts"
import { type Check, withJob, withoutJob, withTwoJobs } from "../check.ts"
import { isoAfter, leaseRequest } from "../lease-request.ts"
import { must, mustBeRefused, mustEqual } from "../must.ts"
import { mustLease } from "../subject.ts"

const request = (): LeaseRequest => ({ ...leaseRequest("conformance", ["diff", "dynamic"]), waitMs: 0 })
const capability = () => request().capabilities[0]

/** How long a 204 may be late, for the way there and back. */
const LATE_MS = 1_500
const WAIT_MS = 1_200
const LONG_WAIT_MS = 10_000
const SOON_MS = 4_000
const HOUR_MS = 3_600_000

const wrongRequests: readonly (readonly [what: string, body: () => object, field: string])[] = [
  ["no capability", () => ({ ...request(), capabilities: [] }), "capabilities"],
  ["an unknown kind", () => ({ ...request(), capabilities: [{ ...capability(), kind: "magic" }] }), "capabilities.0.kind"],
  ["an unknown boundary", () => ({ ...request(), capabilities: [{ ...capability(), boundary: "paper" }] }), "capabilities.0.boundary"],
  ["a time that is none", () => ({ ...request(), capabilities: [{ ...capability(), expiresAt: "soon" }] }), "capabilities.0.expiresAt"],
  ["a wait in words", () => ({ ...request(), waitMs: "long" }), "waitMs"],
  ["a wait over 25 s", () => ({ ...request(), waitMs: 25_001 }), "waitMs"],
  ["no free slot", () => ({ ...request(), freeSlots: 0 }), "freeSlots"],
  ["a request id that is no UUID", () => ({ ...request(), requestId: "1" }), "requestId"],
  ["no request id", () => ({ ...request(), requestId: undefined }), "requestId"],
  ["an unknown field", () => ({ ...request(), tip: 1 }), "tip"],
  ["an unknown field deep inside", () => ({ ...request(), capabilities: [{ ...capability(), tip: 1 }] }), "capabilities.0.tip"],
]

/** How a job comes to a runner. */
export const pollChecks: readonly Check[] = [
  withoutJob("poll: refuses a runner that is too old with 426 runner_too_old", async ({ server }) => {
    const body = { ...request(), runnerVersion: "0.0.0" }
    mustBeRefused(await askServer(server, "lease", { body }), 426, "runner_too_old", "version 0.0.0")
  }),
  withoutJob("poll: refuses what is not JSON with 422 request_invalid", async ({ server }) => {
    for (const body of ["", "{", "[]", "null"]) {
      mustBeRefused(await askServer(server, "lease", { body }), 422, "request_invalid", `the body ${body || "of nothing"}`)
    }
  }),
  ...wrongRequests.map(([what, body, field]) =>
    withoutJob(`poll: refuses ${what} with 422 request_invalid and names ${field}`, async ({ server }) => {
      mustBeRefused(await askServer(server, "lease", { body: body() }), 422, "request_invalid", what, field)
    }),
  ),
  withoutJob("poll: answers 204 when its wait is over and there is no work, not before and not long after", async (subject) => {
    await subject.leaseAll()
    for (const waitMs of [0, WAIT_MS]) {
      const startedAt = performance.now()
      must((await subject.poll({ waitMs })) === null, "there is work although every job was leased")
      const ms = Math.round(performance.now() - startedAt)
      must(ms >= waitMs - 10 && ms <= waitMs + LATE_MS, `a wait of ${waitMs} ms was answered after ${ms} ms`)
    }
  }),
  withJob("poll: gives a lease whose values fit together", async ({ server }, lease) => {
    const halfMs = lease.leaseMs / 2
    must(lease.heartbeatMs <= halfMs, `one heartbeat may be lost: they come every ${lease.heartbeatMs} ms of ${lease.leaseMs} ms`)
    const { username, password, search } = new URL(lease.job.pullRequest.gitUrl)
    mustEqual([username, password, search], ["", "", ""], "the git address carries no credential")
    must(!JSON.stringify(lease).includes(server.token), "a lease does not repeat the runner's token")
    mustEqual(JSON.stringify(lease).split(lease.leaseToken).length, 2, "the lease's token stands in one place only")
  }),
  withTwoJobs("poll: gives two polls two jobs, with a token each", async (_, first, second) => {
    must(first.job.id !== second.job.id, `both polls got job ${first.job.id}`)
    must(first.leaseId !== second.leaseId && first.leaseToken !== second.leaseToken, "both leases have the same id or token")
    const pullRequest = ({ job }: typeof first) => [job.pullRequest.webUrl, job.pullRequest.number]
    must(JSON.stringify(pullRequest(first)) !== JSON.stringify(pullRequest(second)), "two jobs of one pull request are leased at once")
  }),
  withJob("poll: gives the same request id the same lease again, and no second job", async (subject, given) => {
    await subject.giveBack(given)
    const requestId = randomUUID()
    const [first, twin] = await Promise.all([subject.poll({ requestId }), subject.poll({ requestId })])
    const lease = mustLease(first, "the first poll")
    mustEqual(twin, lease, "the same request at the same time")
    mustEqual(await subject.poll({ requestId }), lease, "the same request again")
    await subject.giveBack(lease)
    mustEqual(await subject.poll({ requestId }), null, "the same request after its lease ended")
  }),
  withJob("poll: gives nothing for a proof that has run out or of another kind", async (subject, given) => {
    const { kind } = given.job
    await subject.giveBack(given)
    const old = request().capabilities.map((proof) => ({ ...proof, expiresAt: isoAfter(-60_000) }))
    mustEqual(await subject.poll({ capabilities: old }), null, "a proof that has run out")
    const other = request().capabilities.filter((proof) => proof.kind !== kind)
    const wrong = (await subject.leaseAll({ capabilities: other })).filter(({ job }) => job.kind === kind)
    mustEqual(wrong.length, 0, `jobs of kind ${kind} that were leased to a runner which proved the other one`)
    mustLease(await subject.leaseJob(given.job.id, 0), "the job that was given back")
  }),
  withJob("poll: dates proofs by the clock that the runner tells in Date", async (subject, given) => {
    await subject.giveBack(given)
    const anHourAgo = { checkedAt: isoAfter(-HOUR_MS), expiresAt: isoAfter(60_000 - HOUR_MS) }
    const capabilities = request().capabilities.map((proof) => ({ ...proof, ...anHourAgo }))
    const lease = await subject.poll({ capabilities }, { date: new Date(Date.now() - HOUR_MS) })
    mustLease(lease, "a proof that lasts for a minute more, of a runner whose clock is an hour late")
  }),
  withJob("poll: answers as soon as a job comes, long before its wait is over", async (subject, lease) => {
    await subject.leaseAll()
    const waiting = subject.poll({ waitMs: LONG_WAIT_MS })
    // Its fault is told below, where it is waited for.
    waiting.catch(() => undefined)
    // A whole poll in between: the waiting one has arrived by then.
    mustEqual(await subject.poll(), null, "a poll while every job is leased")
    const startedAt = performance.now()
    await subject.giveBack(lease)
    mustLease(await waiting, "the waiting poll")
    const ms = Math.round(performance.now() - startedAt)
    must(ms <= SOON_MS, `the waiting poll was answered ${ms} ms after the job came`)
  }),
  withJob("poll: leaves the job to the next runner when the one that waited first went away", async (subject, lease) => {
    await subject.leaseAll()
    const leaving = new AbortController()
    const waiting = subject.poll({ waitMs: LONG_WAIT_MS }, { signal: leaving.signal }).then(
      () => "it was answered",
      (error: unknown) => error,
    )
    mustEqual(await subject.poll(), null, "a poll while every job is leased")
    leaving.abort()
    const end = await waiting
    must(end === leaving.signal.reason, `a poll ended before its runner went away and its wait was over: ${end}`)
    mustEqual(await subject.poll(), null, "a poll after one went away")
    await subject.giveBack(lease)
    mustLease(await subject.poll({ waitMs: SOON_MS }), "the next poll")
  }),
]
