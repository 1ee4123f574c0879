import { READING_TOOLS, RESULT_TOOL } from "@galley/engine/opencode-config"
import { virtualComment } from "@galley/findings/virtual-state"
import type { Gateway } from "@galley/gateway/gateway"
import { startGateway } from "@galley/gateway/start-gateway"
import { type EnginePlace, type PreparedJob, secretsOf } from "./prepared-job.ts"

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
