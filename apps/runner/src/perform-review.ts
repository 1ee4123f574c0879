import { randomBytes } from "node:crypto"
import type { Checkout } from "@galley/checkout/checkout"
import type { Lease, LeaseResult } from "@galley/contract/protocol"
import { noUsage, type Usage } from "@galley/contract/usage"
import type { EngineReport } from "@galley/engine/engine"
import { pythonPath } from "@galley/engine/engine-manifest"
import type { PrewarmedPrAgent } from "@galley/engine/prewarmed"
import { readableFiles, reportWithoutEngine } from "@galley/engine/readable-files"
import { runEngine } from "@galley/engine/run-engine"
import { checkLaunch } from "@galley/sandbox/check-launch"
import { type JobDirectory, makeJobDirectory, removeJobDirectory } from "@galley/sandbox/job-directory"
import type { Slot } from "@galley/sandbox/slot"
import { sweepSlot } from "@galley/sandbox/sweep"
import { assertDemoTargets } from "./assert-demo-targets.ts"
import { checkOut } from "./check-out.ts"
import { concludeReview, skippedResult } from "./conclude-review.ts"
import type { RunnerConfig } from "./config.ts"
import { engineJob } from "./engine-job.ts"
import { openGateway } from "./open-gateway.ts"
import { secretsOf } from "./prepared-job.ts"
import type { ServerClient } from "./server-client.ts"
import { startStopwatch } from "./stopwatch.ts"
import type { RunProgress } from "./work-on-lease.ts"

export type ReviewPlace = Readonly<{
  config: RunnerConfig
  server: ServerClient
  slot: Slot
  /** A PR-Agent waiting in the slot, if any; used up or ended by the review. */
  prewarmed: PrewarmedPrAgent | null
}>

/**
 * One review from lease to result: checkout, gateway, engine, validation, reconciliation, rendering. Whatever happens, afterwards no process
 * of the slot runs and the job directory is gone.
 *
 * @param signal its reason is thrown, or a code of the part that it ended
 * @throws the codes of the parts, each a `GalleyError`
 */
export async function performReview(place: ReviewPlace, lease: Lease, progress: RunProgress, signal: AbortSignal): Promise<LeaseResult> {
  const { config, slot, prewarmed } = place
  // Each step of the clean-up is tried, whatever becomes of the others; they run from the last to the first.
  await using cleanUp = new AsyncDisposableStack()
  let directory: JobDirectory | null = null
  cleanUp.defer(async () => {
    if (directory !== null) await removeJobDirectory(directory, slot, config.boundary)
  })
  cleanUp.defer(() => sweepSlot(slot, config.boundary))
  cleanUp.defer(async () => prewarmed?.close())
  directory = await makeJobDirectory(config.jobsDirectory, lease.leaseId, slot, config.boundary)
  return await reviewIn(directory, place, lease, progress, signal)
}

async function reviewIn(
  directory: JobDirectory,
  place: ReviewPlace,
  lease: Lease,
  progress: RunProgress,
  signal: AbortSignal,
): Promise<LeaseResult> {
  const { config, server, prewarmed } = place
  const stopwatch = startStopwatch()
  const credentials = await stopwatch.time("credentials", () => server.credentials(lease, signal))
  if (config.boundary === "demo") assertDemoTargets(lease, credentials)
  const checkout = await stopwatch.time("checkout", () => checkOut(lease, credentials, directory, signal))
  const conclude = (report: EngineReport, usage: Usage) =>
    concludeReview({
      lease,
      checkout,
      report,
      usage,
      upstreamModel: credentials.model.upstreamModel,
      knownSecrets: secretsOf(credentials),
      steps: stopwatch.steps(),
      now: new Date().toISOString(),
    })
  if (readableFiles(lease.job.kind, checkout.changedFiles).length === 0) {
    const changesNames = checkout.changedFiles.some((file) => file.omitted === null && file.patch === null)
    if (!changesNames) return skippedResult(lease, checkout, stopwatch.steps())
    return conclude(reportWithoutEngine(lease.job.kind, checkout.changedFiles), noUsage)
  }
  const job = { lease, credentials, checkout, directory, token: randomBytes(32).toString("base64url"), progress }
  const gateway = await openGateway(place, job)
  try {
    await stopwatch.time("launch check", () => proveLaunch(place, checkout, signal))
    const report = await stopwatch.time("engine", () => runEngine(engineJob(place, job, gateway), signal, prewarmed))
    progress.phase = "reconciling"
    return conclude(report, gateway.usage())
  } finally {
    progress.usage = gateway.usage()
    await gateway.close()
  }
}

function proveLaunch({ config, slot }: ReviewPlace, checkout: Checkout, signal: AbortSignal): Promise<void> {
  const python = pythonPath({ path: config.prefix })
  return checkLaunch({ slot, boundary: config.boundary, treePath: checkout.treePath, python, signal })
}
