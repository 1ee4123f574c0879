import { randomUUID } from "node:crypto"
import { MAX_RESULT_BYTES } from "@galley/contract/limits"
import type { RunnerVerbId } from "@galley/contract/runner-openapi"
import { askElsewhere, askServer, type LeaseKey } from "../ask-server.ts"
import { bodyOf, leaseVerbs } from "../body-of.ts"
import { type Check, withJob, withoutJob, withTwoJobs } from "../check.ts"
import { leaseRequest } from "../lease-request.ts"
import { must, mustBeDone, mustBeRefused, mustEqual } from "../must.ts"
import { mustLease } from "../subject.ts"

const allVerbs: readonly RunnerVerbId[] = ["lease", ...leaseVerbs]
const wrongToken = "x".repeat(43)
const unknownLease = (): LeaseKey => ({ leaseId: randomUUID(), leaseToken: wrongToken })

/** Who may ask what, whatever the verb. */
export const everyVerbChecks: readonly Check[] = [
  withoutJob("every verb: refuses no token, a wrong one and another scheme with 401 runner_unauthorized, all alike", async ({ server }) => {
    const answers = []
    for (const id of allVerbs) {
      for (const authorization of [null, `Bearer ${wrongToken}`, `Basic ${server.token}`, "Bearer "]) {
        const answer = await askServer(server, id, { body: {}, lease: unknownLease(), authorization })
        mustBeRefused(answer, 401, "runner_unauthorized", `${id} with authorization ${authorization?.split(" ")[0] ?? "missing"}`)
        answers.push(answer.body)
      }
    }
    for (const body of answers) mustEqual(body, answers[0], "answers must not tell what was wrong with a token")
  }),
  withJob("every verb: refuses a body over 1 MiB with 413 result_too_large, its length declared or not", async (subject, lease) => {
    const poll = { ...leaseRequest("conformance", ["diff"]), waitMs: 0 }
    for (const id of allVerbs) {
      const body = JSON.stringify(id === "lease" ? poll : bodyOf(id, lease)).padEnd(MAX_RESULT_BYTES + 1)
      for (const [what, sent] of [
        ["declared", body],
        ["not declared", new Blob([body]).stream()],
      ] as const) {
        const answer = await askServer(subject.server, id, { body: sent, lease, alone: true })
        mustBeRefused(answer, 413, "result_too_large", `${id}, length ${what}`)
      }
    }
    mustBeDone(await subject.on(lease, "heartbeat", bodyOf("heartbeat", lease)), "a heartbeat afterwards")
  }),
  withoutJob("every verb: reads a body of exactly 1 MiB", async ({ server }) => {
    const body = JSON.stringify({ ...leaseRequest("conformance", ["diff"]), waitMs: -1 }).padEnd(MAX_RESULT_BYTES)
    mustBeRefused(await askServer(server, "lease", { body }), 422, "request_invalid", "a poll with a wrong wait", "waitMs")
  }),
  withoutJob("addresses: answers one that the protocol does not have with 404 in the form of every error", async ({ server }) => {
    mustEqual((await askElsewhere(server, "/nothing", "POST")).status, 404, "POST /nothing")
    mustEqual((await askElsewhere(server, `/leases/${randomUUID()}/nothing`, "POST")).status, 404, "POST /leases/{id}/nothing")
  }),
  withoutJob("addresses: answers another method than POST with 404 or 405 in the form of every error", async ({ server }) => {
    for (const method of ["GET", "PUT", "DELETE"]) {
      const { status } = await askElsewhere(server, "/leases", method)
      must(status === 404 || status === 405, `${method} /leases: expected 404 or 405, got ${status}`)
    }
  }),
  withJob("every verb on a lease: answers 409 lease_lost for a lease that never was", async ({ on }, lease) => {
    for (const leaseId of [randomUUID(), "no-uuid", "1' or true"]) {
      for (const verb of leaseVerbs) {
        mustBeRefused(await on({ ...lease, leaseId }, verb, bodyOf(verb, lease)), 409, "lease_lost", `${verb} on ${leaseId}`)
      }
    }
  }),
  withJob(
    "every verb on a lease: answers 409 lease_lost for a wrong or missing lease token, and changes nothing",
    async ({ on }, lease) => {
      for (const leaseToken of [wrongToken, null]) {
        for (const verb of leaseVerbs) {
          mustBeRefused(await on({ ...lease, leaseToken }, verb, bodyOf(verb, lease)), 409, "lease_lost", verb)
        }
      }
      mustBeDone(await on(lease, "heartbeat", bodyOf("heartbeat", lease)), "a heartbeat with the right one afterwards")
    },
  ),
  withTwoJobs("every verb on a lease: answers 409 lease_lost for the token of another lease", async ({ on }, lease, other) => {
    for (const verb of leaseVerbs) {
      mustBeRefused(await on({ ...lease, leaseToken: other.leaseToken }, verb, bodyOf(verb, lease)), 409, "lease_lost", verb)
    }
  }),
  withJob("every verb on a lease: answers 409 lease_lost for an older lease of the same job", async (subject, old) => {
    await subject.giveBack(old)
    const lease = mustLease(await subject.leaseJob(old.job.id, 0), "the job that was given back")
    must(lease.fence > old.fence, `the fence grows with every lease: ${old.fence} came before ${lease.fence}`)
    for (const verb of leaseVerbs) mustBeRefused(await subject.on(old, verb, bodyOf(verb, old)), 409, "lease_lost", verb)
    mustBeDone(await subject.on(lease, "heartbeat", bodyOf("heartbeat", lease)), "a heartbeat on the newer lease")
  }),
]
