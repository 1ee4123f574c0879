import type { Fault } from "@galley/fake-github/fault"
import type { Placed } from "./journeys.ts"
import type { Random } from "./random.ts"
import type { Blow } from "./story.ts"

export const SERVERS = 2
export const RUNNERS = 6

const SERVER_BLOWS = 5
const RUNNER_BLOWS = 18
const FAULTS = 30
const TIMES = 3
/** Long enough for the leases of a stopped runner to be taken as run out. */
const LONG_STOP_MS = 4_000

const comments = "/repos/*/*/issues/*/comments"
const comment = "/repos/*/*/issues/comments/*"

/** What GitHub does to a call. */
function githubFault(random: Random): Fault {
  const times = 1 + random.below(3)
  const status = random.pick([500, 502, 503])
  return random.pick<Fault>([
    { method: "POST", path: comments, effect: { kind: "apply_then_destroy" } },
    { method: "PATCH", path: comment, effect: { kind: "apply_then_destroy" } },
    { method: "POST", path: comments, effect: { kind: "delay", ms: 200 + random.below(1_500) } },
    { method: "GET", path: comments, times, effect: { kind: "status", status } },
    { path: "/repos/**", times, effect: { kind: "status", status } },
    { path: "/repos/**", times, effect: { kind: "destroy" } },
    { path: "/repos/**", effect: { kind: "secondary_limit", retryAfterSeconds: 1 + random.below(2) } },
    { method: "POST", path: "/app/installations/*/access_tokens", times, effect: { kind: "status", status } },
    { path: "/app/**", times, effect: { kind: "status", status } },
  ])
}

function serverBlow(random: Random, which: number): Blow {
  const signal = random.pick<Blow["signal"]>(["SIGKILL", "SIGKILL", "SIGKILL", "SIGTERM", "SIGSTOP"])
  return { target: "server", which, signal, ms: random.below(signal === "SIGSTOP" ? 2_500 : 500), leasesEnd: false }
}

function runnerBlow(random: Random): Blow {
  const signal = random.pick<Blow["signal"]>(["SIGKILL", "SIGKILL", "SIGTERM", "SIGSTOP"])
  const leasesEnd = signal === "SIGSTOP" && random.chance(0.5)
  const ms = leasesEnd ? LONG_STOP_MS : random.below(signal === "SIGSTOP" ? 1_500 : 500)
  return { target: "runner", which: random.below(RUNNERS), signal, ms, leasesEnd }
}

/** One server is hit, or all at once. */
function serverBlows(random: Random): Blow[] {
  const all = Array.from({ length: SERVERS }, (_, which) => which)
  return (random.chance(0.2) ? all : [random.below(SERVERS)]).map((which) => serverBlow(random, which))
}

/** Blows, faults and passing time, spread over `places`. */
export function troubles(random: Random, places: number): Placed[] {
  const spread = (count: number, step: () => Placed["step"][]) =>
    Array.from({ length: count }, (_, turn) => {
      const place = ((turn + 0.25 + (0.5 * random.below(1_000)) / 1_000) * places) / count
      return step().map((one) => ({ place, step: one }))
    }).flat()
  return [
    ...spread(SERVER_BLOWS, () => serverBlows(random).map((blow) => ({ kind: "blow", blow }))),
    ...spread(RUNNER_BLOWS, () => [{ kind: "blow", blow: runnerBlow(random) }]),
    ...spread(FAULTS, () => [{ kind: "fault", fault: githubFault(random) }]),
    ...spread(TIMES, () => [{ kind: "time" }]),
  ]
}
