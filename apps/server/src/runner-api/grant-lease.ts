import { GalleyError } from "@galley/contract/errors"
import type { Credentials, Lease } from "@galley/contract/protocol"
import type { PullRequestAddress } from "@galley/github/pull-request"
import { defaultModel } from "@galley/store/providers/default-model"
import { resolveModel } from "@galley/store/providers/resolve-model"
import { type ClaimedLease, LEASE_MS, type LeaseFacts } from "@galley/store/queue/claim-jobs"
import { recordRunModel } from "@galley/store/runs/record-run-model"
import type { ServerContext } from "../context.ts"
import { findSummary } from "../publication/find-summary.ts"
import { priorState } from "./prior-state.ts"

const HEARTBEAT_MS = 15_000

export const addressOf = (facts: LeaseFacts): PullRequestAddress => ({
  owner: facts.project.owner,
  repository: facts.project.name,
  number: facts.pullRequest.number,
})

/**
 * Completes a claimed lease with what is read from GitHub: the finding state in the bot's comment. Called after the claim committed, so that
 * no network call happens inside it.
 *
 * @throws codes of `githubFault`, `finding_state_invalid`, `finding_state_too_large`, `model_not_configured`: the caller then ends the attempt
 */
export async function grantLease(context: ServerContext, claimed: ClaimedLease): Promise<Lease> {
  const { installation, project, pullRequest } = claimed
  const call = context.github.forRepository(installation.githubInstallationId, project.githubRepositoryId)
  const botLogin = await context.github.botLogin()
  const [{ current }, model] = await Promise.all([
    findSummary(call, addressOf(claimed), botLogin, claimed.commentId),
    recordModel(context, claimed),
  ])
  return {
    leaseId: claimed.leaseId,
    leaseToken: claimed.leaseToken,
    fence: claimed.fence,
    leaseMs: LEASE_MS,
    heartbeatMs: HEARTBEAT_MS,
    attempt: claimed.attempt,
    job: {
      id: claimed.jobId,
      kind: claimed.kind,
      headSha: claimed.headSha,
      baseSha: claimed.baseSha,
      previousHeadSha: claimed.lastReviewedSha,
      pullRequest: {
        owner: project.owner,
        repository: project.name,
        number: pullRequest.number,
        title: pullRequest.title,
        description: pullRequest.description,
        author: pullRequest.author,
        baseRef: pullRequest.baseRef,
        headRef: pullRequest.headRef,
        webUrl: pullRequest.webUrl,
        gitUrl: project.gitUrl,
      },
    },
    settings: {
      model,
      skill: project.settings.reviewSkill ?? null,
      maxFindings: project.settings.maxFindings,
    },
    limits: context.config.limits,
    prior: priorState(current, { commentId: claimed.commentId, state: claimed.publishedState }),
    botLogin,
    usageSoFar: claimed.usageSoFar,
    runUrl: `${context.config.publicUrl}/runs/${claimed.leaseId}`,
  }
}

/** What a job may use, apart from the lease: a fresh read-only token for one repository's contents, and the workspace's model. */
export async function grantCredentials(context: ServerContext, facts: LeaseFacts): Promise<Credentials> {
  const { installation, project } = facts
  const [githubToken, model] = await Promise.all([
    context.github.mintReadToken(installation.githubInstallationId, project.githubRepositoryId),
    modelOf(context, facts).then((model) => resolveModel(context.store, facts.workspaceId, model)),
  ])
  return { githubToken, model }
}

async function recordModel(context: ServerContext, facts: LeaseFacts): Promise<string> {
  const model = await modelOf(context, facts)
  await recordRunModel(context.store, facts.leaseId, model)
  return model
}

/** The logical model of a job: a project chooses it for Dynamic Review, its workspace for Diff Review. */
async function modelOf({ store }: ServerContext, facts: LeaseFacts): Promise<string> {
  if (facts.kind === "dynamic") return facts.project.settings.dynamicModel
  const model = await defaultModel(store, facts.workspaceId)
  if (model === null) throw new GalleyError("model_not_configured", "the workspace has no model provider")
  return model
}
