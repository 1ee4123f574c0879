import type { EngineJob } from "@galley/engine/engine"
import type { Gateway } from "@galley/gateway/gateway"
import type { EnginePlace, PreparedJob } from "./prepared-job.ts"

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
