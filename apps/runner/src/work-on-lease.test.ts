import { once } from "node:events"
import { GalleyError } from "@galley/contract/errors"
import { defaultJobLimits } from "@galley/contract/limits"
import type { Heartbeat, HeartbeatAnswer, Lease, LeaseFailure, LeaseResult } from "@galley/contract/protocol"
import { noUsage } from "@galley/contract/usage"
import { pino } from "pino"
import { expect, test } from "vitest"
import type { ServerClient } from "./server-client.ts"
import { exampleLease, exampleSkip } from "./testing/example-lease.ts"
import { type Review, workOnLease } from "./work-on-lease.ts"

const used = { ...noUsage, modelCalls: 4, inputTokens: 1_000 }
const quick = { leaseMs: 1_000, heartbeatMs: 10 }

type Said =
  | Readonly<{ verb: "result"; result: LeaseResult }>
  | Readonly<{ verb: "failure"; failure: LeaseFailure }>
  | Readonly<{ verb: "release"; last: Heartbeat }>

type Case = Readonly<{
  review: Review
  lease?: Partial<Lease>
  beat?: () => Promise<HeartbeatAnswer>
  server?: Partial<ServerClient>
  giveBack?: AbortSignal
}>

/** Works on one lease and records what the server heard at its end. */
async function work({ review, lease, beat = async () => ({ action: "continue" }), server, giveBack }: Case) {
  const said: Said[] = []
  const logged: { msg: string }[] = []
  const client: ServerClient = {
    lease: () => Promise.reject(new Error("nobody leases here")),
    credentials: () => Promise.reject(new Error("nobody asks for credentials here")),
    heartbeat: beat,
    result: async (_lease, result) => void said.push({ verb: "result", result }),
    failure: async (_lease, failure) => void said.push({ verb: "failure", failure }),
    release: async (_lease, last) => void said.push({ verb: "release", last }),
    close: async () => undefined,
    ...server,
  }
  const never = new AbortController().signal
  const stop = { giveBack: giveBack ?? never, silence: never }
  const log = pino({ level: "info" }, { write: (line: string) => void logged.push(JSON.parse(line)) })
  const code = await workOnLease(exampleLease({ ...quick, ...lease }), client, review, stop, log)
  return { said, code, log: logged.map(({ msg }) => msg) }
}

/** A review that goes on until its signal ends it; then it fails as an engine does. */
const endless: Review = async (_lease, progress, signal) => {
  progress.usage = used
  if (!signal.aborted) await once(signal, "abort")
  throw new GalleyError("engine_timeout", "the engine's time is over", { cause: signal.reason })
}

test("hands a result over and nothing else", async () => {
  const result = exampleSkip()
  expect(await work({ review: async () => result })).toMatchObject({ said: [{ verb: "result", result }], code: null })
})

// R-QUEUE-12
test.each([
  ["engine_crashed", true],
  ["model_rate_limited", true],
  ["model_usage_missing", false],
  ["input_too_large", false],
] as const)("hands the failure %s over with its usage, and says whether another attempt may help", async (code, retryable) => {
  const review: Review = async (_lease, progress) => {
    progress.usage = used
    throw new GalleyError(code, "what happened")
  }
  const failure = { fence: 3, code, detail: "what happened", retryable, usage: used }
  expect(await work({ review })).toMatchObject({ said: [{ verb: "failure", failure }], code })
})

test("gives the job back for a fault of its own, so that no attempt is counted, and names it to its caller", async () => {
  const review: Review = () => Promise.reject(new GalleyError("boundary_unavailable", "no rules"))
  const { said, code } = await work({ review })
  expect(said.map(({ verb }) => verb)).toEqual(["release"])
  expect(code).toBe("boundary_unavailable")
})

test("shows nothing of a fault nobody foresaw, nor a secret in the words of one it knows", async () => {
  const secret = `ghp_${"a1B2".repeat(9)}`
  const unforeseen = await work({ review: () => Promise.reject(new TypeError(`cannot read ${secret}`)) })
  expect(unforeseen.said).toMatchObject([{ failure: { code: "internal_error", retryable: true } }])
  const known = await work({ review: () => Promise.reject(new GalleyError("engine_failed", `refused ${secret}`)) })
  expect(JSON.stringify([unforeseen.said, known.said])).not.toContain(secret)
})

// F20, R-PROTO-4
test.each(["cancel", "superseded"] as const)("%s ends the review and gives the job back at once, with what it used", async (action) => {
  const ended = await work({ review: endless, beat: async () => ({ action }) })
  expect(ended).toMatchObject({ said: [{ verb: "release", last: { usage: used } }], code: null })
})

// R-PROTO-1
test("a lost lease ends the review, and the server hears no more of it", async () => {
  const ended = await work({ review: endless, beat: () => Promise.reject(new GalleyError("lease_lost", "given away")) })
  expect(ended).toEqual({ said: [], code: null, log: ["lease lost; the work was dropped"] })
})

// F19
test("a result that comes after the lease was given away is dropped", async () => {
  const result = () => Promise.reject(new GalleyError("lease_lost", "given away"))
  const ended = await work({ review: async () => exampleSkip(), server: { result } })
  expect(ended).toEqual({ said: [], code: null, log: ["lease lost; the work was dropped"] })
})

test("a job over its time limit fails with job_timeout, whatever its engine made of the end", async () => {
  const ended = await work({ review: endless, lease: { limits: { ...defaultJobLimits, jobTimeoutMs: 50 } } })
  expect(ended).toMatchObject({ said: [{ verb: "failure", failure: { code: "job_timeout", retryable: false, usage: used } }] })
})

test("the time limit does not take a finished result away", async () => {
  const result = async (_lease: Lease, _result: LeaseResult, signal: AbortSignal) => {
    // Fires after the job's own deadline, which is set before and shorter.
    await once(AbortSignal.timeout(30), "abort")
    signal.throwIfAborted()
  }
  const ended = await work({
    review: async () => exampleSkip(),
    server: { result },
    lease: { limits: { ...defaultJobLimits, jobTimeoutMs: 5 } },
  })
  expect(ended).toMatchObject({ said: [], code: null, log: ["result handed over"] })
})

// F44, R-PROTO-2, R-QUEUE-12
test("a runner that stops gives its job back with what it used", async () => {
  const stop = new AbortController()
  const review: Review = (lease, progress, signal) => {
    setImmediate(() => stop.abort())
    return endless(lease, progress, signal)
  }
  expect(await work({ review, giveBack: stop.signal })).toMatchObject({ said: [{ verb: "release", last: { usage: used } }], code: null })
})

test("a runner that stops still hands over a result it already has", async () => {
  const stop = new AbortController()
  const handedOver: boolean[] = []
  const result = async (_lease: Lease, _result: LeaseResult, signal: AbortSignal) => {
    stop.abort()
    handedOver.push(!signal.aborted)
  }
  const ended = await work({ review: async () => exampleSkip(), server: { result }, giveBack: stop.signal })
  expect(ended).toMatchObject({ said: [], log: ["result handed over"] })
  expect(handedOver).toEqual([true])
})

test("a server that takes neither result nor failure does not hold the slot longer than a lease lasts", async () => {
  const refuse = async (_lease: Lease, _body: unknown, signal: AbortSignal) => {
    if (!signal.aborted) await once(signal, "abort")
    throw new GalleyError("internal_error", "the server cannot store it")
  }
  const ended = await work({
    review: async () => exampleSkip(),
    lease: { leaseMs: 60, heartbeatMs: 10 },
    server: { result: refuse, failure: refuse },
  })
  expect(ended).toMatchObject({ code: "internal_error", log: ["review failed", "the end of the lease could not be told"] })
})

test("reports phase and usage while it works, the first time at once", async () => {
  const beats: Heartbeat[] = []
  const enough = Promise.withResolvers<void>()
  const heartbeat: ServerClient["heartbeat"] = async (_lease, beat) => {
    beats.push(beat)
    if (beat.phase === "reviewing") enough.resolve()
    return { action: "continue" }
  }
  const review: Review = async (_lease, progress) => {
    while (beats.length === 0) await new Promise((resolve) => setImmediate(resolve))
    progress.phase = "reviewing"
    progress.usage = used
    await enough.promise
    return exampleSkip()
  }
  await work({ review, server: { heartbeat } })
  expect(beats[0]).toMatchObject({ phase: "preparing", usage: noUsage })
  expect(beats.at(-1)).toEqual({ phase: "reviewing", progress: "4 model calls", usage: used })
})
