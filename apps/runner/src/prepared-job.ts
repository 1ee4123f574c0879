import type { Checkout } from "@galley/checkout/checkout"
import { prepareCheckout } from "@galley/checkout/prepare-checkout"
import type { Credentials, Lease } from "@galley/contract/protocol"
import type { EngineJob } from "@galley/engine/engine"
import { READING_TOOLS, RESULT_TOOL } from "@galley/engine/opencode-config"
import { virtualComment } from "@galley/findings/virtual-state"
import type { Gateway } from "@galley/gateway/gateway"
import { startGateway } from "@galley/gateway/start-gateway"
import type { JobDirectory } from "@galley/sandbox/job-directory"
import type { Slot } from "@galley/sandbox/slot"
import type { RunnerConfig } from "./config.ts"
import type { RunProgress } from "./work-on-lease.ts"

/** Where an engine works. */
export type EnginePlace = Readonly<{ config: Pick<RunnerConfig, "boundary" | "prefix">; slot: Slot }>

/** A job that is ready for its engine. */
export type PreparedJob = Readonly<{
  lease: Lease
  credentials: Credentials
  checkout: Checkout
  directory: JobDirectory
  /** The engine's only secret: it opens the gateway and nothing else. */
  token: string
  progress: RunProgress
}>

export const secretsOf = (credentials: Credentials) => [credentials.githubToken, credentials.model.apiKey]

/** Throws the codes of `prepareCheckout`. */
export function checkOut(lease: Lease, credentials: Credentials, directory: JobDirectory, signal: AbortSignal): Promise<Checkout> {
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

/** The gateway of a job, with what its kind needs: tools for Dynamic Review, the GitHub shim for Diff Review. Close it. */
export function openGateway({ config, slot }: EnginePlace, job: PreparedJob): Promise<Gateway> {
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

/** The job as its engine gets it. Pure, but for the phases that the engine reports into the job's progress. */
export function engineJob({ config, slot }: EnginePlace, job: PreparedJob, gateway: Gateway): EngineJob {
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
