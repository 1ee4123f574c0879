import { errorCode, type GalleyErrorCode } from "@galley/contract/errors"
import type { ProjectSettings } from "@galley/contract/settings"
import { type PullRequest, readPullRequest } from "@galley/github/pull-request"
import { upsertPullRequest } from "@galley/store/intake/upsert-pull-request"
import type { DeliveryVerdict } from "@galley/store/intake/with-intake"
import { withProject } from "@galley/store/intake/with-project"
import { getProjectAddress, type ProjectAddress } from "@galley/store/projects/get-project-address"
import { enqueueJob } from "@galley/store/queue/enqueue-job"
import { URGENT_PRIORITY } from "@galley/store/queue/job"
import type { ServerContext } from "../context.ts"
import { finalFaults } from "../tasks/final-faults.ts"
import type { IgnoreReason } from "./decide-delivery.ts"
import { pullRequestSnapshot } from "./pull-request-snapshot.ts"

/** A `/review` comment whose pull request has still to be read: comment payloads carry no head. */
export type Command = Readonly<{
  workspaceId: string
  projectId: string
  number: number
  commentId: number
  author: string
  deliveryId: string
}>

/** Why a command leads to no review, or null. Pure. A member who asks may have a bot's pull request reviewed. */
export function commandObstacle(pull: Pick<PullRequest, "open" | "draft">, settings: ProjectSettings): IgnoreReason | null {
  if (!settings.active) return "inactive_project"
  if (!pull.open) return "closed"
  return pull.draft && !settings.reviewDrafts ? "draft" : null
}

/**
 * Reads the pull request and queues the review the command asks for. Runs as a retried task; a repetition joins the waiting job. The
 * delivery's reason becomes why there is no review, e.g. `draft`, or GitHub's final fault.
 */
export async function resolveCommand(context: ServerContext, command: Command): Promise<void> {
  const project = await getProjectAddress(context.store, command.workspaceId, command.projectId)
  if (project === null) return
  const pull = await readCommanded(context, project, command.number)
  await withProject(
    context.store,
    { ...command, hostId: context.hostId },
    async (tx, { id, workspaceId, settings }): Promise<DeliveryVerdict> => {
      const obstacle = "fault" in pull ? pull.fault : commandObstacle(pull, settings)
      if ("fault" in pull || obstacle !== null) return { outcome: "ignored", reason: obstacle }
      const snapshot = pullRequestSnapshot(pull, `${context.config.github.webUrl}/${project.owner}/${project.name}`)
      const stored = await upsertPullRequest(tx, { id, workspaceId }, snapshot)
      const job = await enqueueJob(tx, {
        workspaceId,
        pullRequestId: stored.id,
        headSha: stored.headSha,
        baseSha: stored.baseSha,
        headUpdatedAt: snapshot.updatedAt,
        kind: settings.reviewKind,
        cause: "command",
        requestedBy: command.author,
        debounceMs: 0,
        priority: URGENT_PRIORITY,
      })
      return { outcome: "queued", reason: "command", jobId: job.jobId }
    },
  )
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
