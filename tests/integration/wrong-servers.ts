import { randomUUID } from "node:crypto"
import { setTimeout as delay } from "node:timers/promises"
import type { Lease } from "@galley/contract/protocol"
import { noUsage } from "@galley/contract/usage"
import { isoAfter } from "../../conformance/lease-request.ts"
import type { Between } from "./conformance-fixture.ts"

const verbOf = (request: Request) => new URL(request.url).pathname.split("/").at(-1)
const idOf = (request: Request) => new URL(request.url).pathname.split("/").at(-2)
const error = (status: number, code: string, field?: string) => Response.json({ error: { code, message: "", field } }, { status })

/** A server that changes the questions of one verb before it reads them. */
const asked =
  (verb: string, change: (body: never) => object): Between =>
  async (request, forward) => {
    if (verbOf(request) !== verb) return forward(request)
    return forward(new Request(request, { body: JSON.stringify(change((await request.json()) as never)) }))
  }

/** A server that changes what it answers where it would answer with `status`. */
const answered =
  (status: number, change: (answer: Response, request: Request) => Response | Promise<Response>): Between =>
  async (request, forward) => {
    const answer = await forward(request)
    return answer.status === status ? change(answer, request) : answer
  }

/** A server that changes its leases. */
const leasing = (change: (lease: Lease) => object): Between =>
  answered(200, async (answer, request) => (verbOf(request) === "leases" ? Response.json(change((await answer.json()) as Lease)) : answer))

/** Each breaks one rule; `notices` is the start of the name of the check that has to see it, `jobs` what it needs. */
export const wrongServers: readonly (readonly [breaks: string, notices: string, jobs: number, make: () => Between])[] = [
  ["takes every runner for a known one", "every verb: refuses no token", 0, () => answered(401, () => new Response(null, { status: 204 }))],
  [
    "tells what was wrong with a token",
    "every verb: refuses no token",
    0,
    () => async (request, forward) => {
      const answer = await forward(request)
      if (answer.status !== 401 || request.headers.has("authorization")) return answer
      return Response.json({ error: { code: "runner_unauthorized", message: "there is no token" } }, { status: 401 })
    },
  ],
  [
    "reads bodies of any size",
    "every verb: refuses a body over 1 MiB",
    1,
    () => async (request, forward) => forward(new Request(request, { body: (await request.text()).trimEnd() })),
  ],
  [
    "answers errors as text",
    "addresses: answers one",
    0,
    () => answered(404, async (answer) => new Response(await answer.text(), { status: 404 })),
  ],
  [
    "answers 200 to a wrong token of a lease",
    "every verb on a lease: answers 409 lease_lost for a wrong",
    1,
    () => answered(409, (answer, request) => (verbOf(request) === "release" ? Response.json({}) : answer)),
  ],
  [
    "goes on with an older lease",
    "every verb on a lease: answers 409 lease_lost for an older",
    1,
    () => answered(409, (answer, request) => (verbOf(request) === "heartbeat" ? Response.json({ action: "continue" }) : answer)),
  ],
  [
    "works with the oldest runner",
    "poll: refuses a runner that is too old",
    0,
    () => asked("leases", (body: object) => ({ ...body, runnerVersion: "9.0.0" })),
  ],
  [
    "ignores unknown fields",
    "poll: refuses an unknown field with",
    0,
    () => asked("leases", ({ tip: _, ...body }: { tip: number }) => body),
  ],
  ["does not name the wrong field", "poll: refuses no capability", 0, () => answered(422, () => error(422, "request_invalid"))],
  ["keeps a runner waiting too long", "poll: answers 204", 0, () => answered(204, async (answer) => delay(2_000, answer))],
  ["never lets a runner wait", "poll: answers 204", 0, () => asked("leases", (body: object) => ({ ...body, waitMs: 0 }))],
  [
    "leaves a field out of the lease",
    "poll: gives a lease whose values fit",
    1,
    () => leasing(({ limits: { maxToolCalls: _, ...limits }, ...lease }) => ({ ...lease, limits })),
  ],
  [
    "puts a credential into the address of the repository",
    "poll: gives a lease whose values fit",
    1,
    () =>
      leasing((lease) => {
        const gitUrl = lease.job.pullRequest.gitUrl.replace("://", "://x:secret@")
        return { ...lease, job: { ...lease.job, pullRequest: { ...lease.job.pullRequest, gitUrl } } }
      }),
  ],
  [
    "gives a job twice",
    "poll: gives two polls two jobs",
    2,
    () => {
      let first: Lease | null = null
      return leasing((lease) => {
        first ??= lease
        return first
      })
    },
  ],
  [
    "takes every request for a new one",
    "poll: gives the same request id",
    2,
    () => asked("leases", (body: object) => ({ ...body, requestId: randomUUID() })),
  ],
  [
    "believes proofs that ran out",
    "poll: gives nothing for a proof",
    1,
    () =>
      asked("leases", (body: { capabilities: object[] }) => ({
        ...body,
        capabilities: body.capabilities.map((proof) => ({ ...proof, expiresAt: isoAfter(60_000) })),
      })),
  ],
  [
    "dates proofs by its own clock",
    "poll: dates proofs",
    1,
    () => async (request, forward) => {
      const headers = new Headers(request.headers)
      headers.delete("date")
      return forward(new Request(request, { headers }))
    },
  ],
  [
    "breaks down under a poll that waits",
    "poll: leaves the job to the next runner",
    1,
    () => async (request, forward) => {
      const waits = verbOf(request) === "leases" && ((await request.clone().json()) as { waitMs: number }).waitMs > 5_000
      return waits ? error(500, "internal_error") : forward(request)
    },
  ],
  [
    "leaves a job with a runner that left",
    "poll: leaves the job to the next runner",
    1,
    // A copy of the request does not know that its client went away.
    () => async (request, forward) =>
      forward(new Request(request.url, { method: request.method, headers: request.headers, body: await request.text() })),
  ],
  [
    "answers polls only when their wait is over",
    "poll: answers as soon as a job comes",
    1,
    () => async (request, forward) => {
      if (verbOf(request) !== "leases") return forward(request)
      const body = (await request.json()) as { waitMs: number }
      await delay(body.waitMs)
      return forward(new Request(request, { body: JSON.stringify({ ...body, waitMs: 300 }) }))
    },
  ],
  [
    "shows a credential in the lease",
    "credentials: gives what the lease does not hold",
    1,
    () => leasing((lease) => ({ ...lease, botLogin: "model key" })),
  ],
  [
    "renews no lease",
    "lease: lives on heartbeats",
    2,
    () => async (request, forward) => (verbOf(request) === "heartbeat" ? Response.json({ action: "continue" }) : forward(request)),
  ],
  [
    "counts less than nothing",
    "heartbeat: refuses usage",
    1,
    () =>
      asked("heartbeat", (body: { usage: { modelCalls: number } }) => ({
        ...body,
        usage: { ...body.usage, modelCalls: Math.max(0, body.usage.modelCalls) },
      })),
  ],
  [
    "forgets what an attempt used",
    "heartbeat: keeps what an attempt used",
    1,
    () => asked("heartbeat", (body: { usage: object }) => ({ ...body, usage: { ...body.usage, modelCalls: 0 } })),
  ],
  [
    "takes a release for a failure",
    "release: gives the job back at once",
    1,
    () => async (request, forward) => {
      if (verbOf(request) !== "release") return forward(request)
      const failure = { fence: 1, code: "engine_failed", detail: "", retryable: true, usage: noUsage }
      return forward(
        new Request(request.url.replace("release", "failure"), { method: "POST", headers: request.headers, body: JSON.stringify(failure) }),
      )
    },
  ],
  [
    "takes a failure for a release",
    "failure: brings the job back later",
    2,
    () => async (request, forward) => {
      if (verbOf(request) !== "failure") return forward(request)
      return forward(new Request(request.url.replace("failure", "release"), { method: "POST", headers: request.headers, body: "{}" }))
    },
  ],
  [
    "tries again what cannot succeed",
    "failure: brings the job back later",
    2,
    () => asked("failure", (body: object) => ({ ...body, retryable: true })),
  ],
  [
    "gives up what may succeed",
    "failure: brings the job back later",
    2,
    () => asked("failure", (body: object) => ({ ...body, retryable: false })),
  ],
  [
    "takes a result for another head",
    "result: refuses what does not fit",
    1,
    () => answered(422, (answer, request) => (verbOf(request) === "result" ? Response.json({}) : answer)),
  ],
  [
    "forgets that it has a result",
    "result: is taken once",
    1,
    () => {
      const had = new Set<string | undefined>()
      return async (request, forward) => {
        if (verbOf(request) !== "result") return forward(request)
        if (had.has(idOf(request))) return error(409, "lease_lost")
        had.add(idOf(request))
        return forward(request)
      }
    },
  ],
  ["takes a second result", "result: refuses another body", 1, () => answered(409, () => Response.json({}))],
  [
    "takes a release after a result",
    "result: ends the lease",
    1,
    () => answered(409, (answer, request) => (verbOf(request) === "release" ? Response.json({}) : answer)),
  ],
]
