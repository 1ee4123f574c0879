import { errorCode, type GalleyErrorCode } from "@galley/contract/errors"
import type { ProjectSettings } from "@galley/contract/settings"
import { finalFaults } from "@galley/github/final-faults"
import { type PullRequest, readPullRequest } from "@galley/github/pull-request"
import { settleDelivery } from "@galley/store/intake/settle-delivery"
import { upsertPullRequest } from "@galley/store/intake/upsert-pull-request"
import type { DeliveryVerdict } from "@galley/store/intake/with-intake"
import { withProject } from "@galley/store/intake/with-project"
import { getProjectAddress, type ProjectAddress } from "@galley/store/projects/get-project-address"
import { enqueueJob } from "@galley/store/queue/enqueue-job"
import { URGENT_PRIORITY } from "@galley/store/queue/job"
import { z } from "zod"
import type { ServerContext } from "../context.ts"
import type { IgnoreReason } from "./decide-delivery.ts"
import { pullRequestSnapshot } from "./pull-request-snapshot.ts"

/** A `/review` comment whose pull request has still to be read: comment payloads carry no head. */
export const CommandTask = z.object({
  workspaceId: z.uuid(),
  projectId: z.uuid(),
  number: z.int(),
  commentId: z.int(),
  author: z.string(),
  deliveryId: z.uuid(),
})
export type CommandTask = z.infer<typeof CommandTask>

/** Why a command leads to no review, or null. Pure. A member who asks may have a bot's pull request reviewed. */
export function commandObstacle(pull: Pick<PullRequest, "open" | "draft">, settings: ProjectSettings): IgnoreReason | null {
  if (!settings.active) return "inactive_project"
  if (!pull.open) return "closed"
  return pull.draft && !settings.reviewDrafts ? "draft" : null
}

/**
 * Reads the pull request and queues the review the command asks for. Runs as a retried task; a repetition joins the waiting job. The
 * delivery's reason becomes why there is no review, e.g. `draft`, `repository_gone`, or GitHub's final fault.
 */
export async function resolveCommand(context: ServerContext, command: CommandTask): Promise<void> {
  const { store, hostId } = context
  const project = await getProjectAddress(store, command.workspaceId, command.projectId)
  if (project === null) {
    await settleDelivery(store, { ...command, hostId }, { outcome: "ignored", reason: "repository_gone" })
    return
  }
  const pull = await readCommanded(context, project, command.number)
  await withProject(store, { ...command, hostId }, async (tx, { id, workspaceId, settings }): Promise<DeliveryVerdict> => {
    if ("fault" in pull) return { outcome: "ignored", reason: pull.fault }
    const snapshot = pullRequestSnapshot(pull, `${context.config.github.webUrl}/${project.owner}/${project.name}`)
    // An event that came during the read may know the pull request better than the read.
    const stored = await upsertPullRequest(tx, { id, workspaceId }, snapshot)
    const obstacle = commandObstacle(stored, settings)
    if (obstacle !== null) return { outcome: "ignored", reason: obstacle }
    const job = await enqueueJob(tx, {
      workspaceId,
      pullRequestId: stored.id,
      headSha: stored.headSha,
      baseSha: stored.baseSha,
      headUpdatedAt: stored.updatedAt,
      kind: settings.reviewKind,
      cause: "command",
      requestedBy: command.author,
      debounceMs: 0,
      priority: URGENT_PRIORITY,
    })
    return { outcome: "queued", reason: "command", jobId: job.jobId }
  })
}

/** The pull request now, or why it can never be read. */
async function readCommanded(
  context: ServerContext,
  project: ProjectAddress,
  number: number,
): Promise<PullRequest | { fault: GalleyErrorCode }> {
  const call = context.github.forRepository(project.githubInstallationId, project.githubRepositoryId)
  try {
    return await readPullRequest(call, { owner: project.owner, repository: project.name, number })
  } catch (error) {
    if (!finalFaults.has(errorCode(error))) throw error
    return { fault: errorCode(error) }
  }
}
