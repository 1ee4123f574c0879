import { RUNNER_GONE_AFTER_MS } from "@galley/store/runners/last-seen-at"
import type { RunnerSummary } from "@galley/store/runners/list-runners"
import { isRunnerTooOld } from "../runner-api/check-runner-version.ts"
import { provenNow } from "../runner-api/proven-now.ts"

/** Whether the runner gave a sign of life lately. Pure. */
export const isSeen = ({ lastSeenAt }: Pick<RunnerSummary, "lastSeenAt">, now: Date): boolean =>
  lastSeenAt !== null && now.getTime() - lastSeenAt.getTime() < RUNNER_GONE_AFTER_MS

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
  return provenNow(runner.capabilities, now).length === 0 ? "unproven" : "ready"
}
