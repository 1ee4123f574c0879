import type { ReviewKind } from "@galley/contract/settings"
import type { RunnerSummary } from "@galley/store/runners/list-runners"
import { provenNow } from "../runner-api/proven-now.ts"
import { isSeen } from "./runner-standing.ts"
import { kindNames } from "./words.ts"

/** A job that is due gets so long before the pages ask why nobody takes it. */
const PATIENCE_MS = 60_000

type Runner = Pick<RunnerSummary, "paused" | "lastSeenAt" | "capabilities">

const offers = (runner: Runner, kind: ReviewKind, now: Date): boolean =>
  !runner.paused && isSeen(runner, now) && provenNow(runner.capabilities, now).some((capability) => capability.kind === kind)

/** Why a waiting job is not taken: said once it is due for a minute and no live runner proved its kind; else null. Pure. */
export function noRunnerFor(job: { kind: ReviewKind; runAfter: Date }, runners: readonly Runner[], now: Date): string | null {
  if (now.getTime() - job.runAfter.getTime() < PATIENCE_MS) return null
  if (runners.some((runner) => offers(runner, job.kind, now))) return null
  return `No runner offers ${kindNames[job.kind]}.`
}
