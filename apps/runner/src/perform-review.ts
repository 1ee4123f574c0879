import { randomBytes } from "node:crypto"
import type { Checkout } from "@galley/checkout/checkout"
import { prepareCheckout } from "@galley/checkout/prepare-checkout"
import type { Credentials, Lease, LeaseResult } from "@galley/contract/protocol"
import { noUsage, type Usage } from "@galley/contract/usage"
import type { EngineJob, EngineReport } from "@galley/engine/engine"
import { pythonPath } from "@galley/engine/engine-manifest"
import { READING_TOOLS, RESULT_TOOL } from "@galley/engine/opencode-config"
import type { PrewarmedPrAgent } from "@galley/engine/prewarmed"
import { readableFiles, reportWithoutEngine } from "@galley/engine/readable-files"
import { runEngine } from "@galley/engine/run-engine"
import { virtualComment } from "@galley/findings/virtual-state"
import type { Gateway } from "@galley/gateway/gateway"
import { startGateway } from "@galley/gateway/start-gateway"
import { checkLaunch } from "@galley/sandbox/check-launch"
import { type JobDirectory, makeJobDirectory, removeJobDirectory } from "@galley/sandbox/job-directory"
import type { Slot } from "@galley/sandbox/slot"
import { sweepSlot } from "@galley/sandbox/sweep"
import { assertDemoTargets } from "./assert-demo-targets.ts"
import { concludeReview, skippedResult } from "./conclude-review.ts"
import type { RunnerConfig } from "./config.ts"
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

/** A job that is ready for its engine. */
type PreparedJob = Readonly<{
  lease: Lease
  credentials: Credentials
  checkout: Checkout
  directory: JobDirectory
  /** The engine's only secret: it opens the gateway and nothing else. */
  token: string
  progress: RunProgress
}>

const secretsOf = (credentials: Credentials) => [credentials.githubToken, credentials.model.apiKey]

async function checkOut(lease: Lease, credentials: Credentials, directory: JobDirectory, signal: AbortSignal): Promise<Checkout> {
  const { job, limits } = lease
  return prepareCheckout(
    {
      gitUrl: job.pullRequest.gitUrl,
      token: credentials.githubToken,
      pullNumber: job.pullRequest.number,
      headSha: job.headSha,
      baseSha: job.baseSha,
      previousHeadSha: job.previousHeadSha,
      jobDirectory: directory.path,
      limits,
    },
    signal,
  )
}

function openGateway({ config, slot }: ReviewPlace, job: PreparedJob): Promise<Gateway> {
  const { lease, credentials, checkout, token, progress } = job
  const isDiff = lease.job.kind === "diff"
  return startGateway({
    // Without egress rules any port does, and two demo runners on one machine do not collide.
    port: config.boundary === "enforced" ? slot.gatewayPort : 0,
    token,
    model: credentials.model,
    knownSecrets: secretsOf(credentials),
    limits: lease.limits,
    usageSoFar: lease.usageSoFar,
    tools: isDiff ? null : { allowed: READING_TOOLS, resultTool: RESULT_TOOL, treePath: checkout.treePath },
    shim: isDiff
      ? { pullRequest: lease.job.pullRequest, checkout, botLogin: lease.botLogin, stateComment: virtualComment(lease.prior.state) }
      : null,
    onUsage: (usage) => {
      progress.usage = usage
    },
  })
}

function proveLaunch({ config, slot }: ReviewPlace, checkout: Checkout, signal: AbortSignal): Promise<void> {
  const python = pythonPath({ path: config.prefix })
  return checkLaunch({ slot, boundary: config.boundary, treePath: checkout.treePath, python, signal })
}

function engineJob({ config, slot }: ReviewPlace, job: PreparedJob, gateway: Gateway): EngineJob {
  const { lease, credentials, checkout, directory, token, progress } = job
  return {
    lease,
    checkout,
    gateway,
    token,
    slot,
    boundary: config.boundary,
    prefix: { path: config.prefix },
    scratch: directory.scratch,
    runDirectory: directory.run,
    limits: lease.limits,
    contextTokens: credentials.model.contextTokens,
    outputTokens: credentials.model.outputTokens,
    onPhase: (phase) => {
      progress.phase = phase
    },
  }
}
