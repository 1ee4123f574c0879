import type { Capability } from "@galley/contract/protocol"
import type { RunnerSummary } from "@galley/store/runners/list-runners"
import { isRunnerTooOld } from "../runner-api/check-runner-version.ts"

/** A runner polls every 25 s at the slowest; after three misses it counts as gone. */
const SEEN_WITHIN_MS = 90_000

/** Whether the runner gave a sign of life lately. Pure. */
export const isSeen = ({ lastSeenAt }: Pick<RunnerSummary, "lastSeenAt">, now: Date): boolean =>
  lastSeenAt !== null && now.getTime() - lastSeenAt.getTime() < SEEN_WITHIN_MS

/** Its proofs that have not run out. Pure. */
export const provenNow = ({ capabilities }: Pick<RunnerSummary, "capabilities">, now: Date): Capability[] =>
  capabilities.filter(({ expiresAt }) => new Date(expiresAt) > now)

/** How a runner stands; the first that fits, so that what a person did or can mend comes before what follows from it. */
export type RunnerStanding = "paused" | "never_seen" | "not_seen" | "too_old" | "unproven" | "working" | "ready"

/** Pure. */
export function runnerStanding(
  runner: Pick<RunnerSummary, "paused" | "lastSeenAt" | "version" | "capabilities" | "running">,
  now: Date,
): RunnerStanding {
  if (runner.paused) return "paused"
  if (runner.lastSeenAt === null) return "never_seen"
  if (!isSeen(runner, now)) return "not_seen"
  if (runner.version !== null && isRunnerTooOld(runner.version)) return "too_old"
  if (runner.running > 0) return "working"
  return provenNow(runner, now).length === 0 ? "unproven" : "ready"
}
