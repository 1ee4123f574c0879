import type { ProjectSettings } from "@galley/contract/settings"
import type { PullRequest } from "@galley/github/pull-request"
import { REFRESH_DELAY_SECONDS, requestRefresh } from "@galley/store/intake/request-refresh"
import { upsertPullRequest } from "@galley/store/intake/upsert-pull-request"
import type { DeliveryVerdict } from "@galley/store/intake/with-intake"
import { withProject } from "@galley/store/intake/with-project"
import { enqueueJob } from "@galley/store/queue/enqueue-job"
import { URGENT_PRIORITY } from "@galley/store/queue/job"
import { taskQueues } from "@galley/store/tasks"
import type { Transaction } from "@galley/store/transaction"
import { z } from "zod"
import type { ServerContext } from "../context.ts"
import type { IgnoreReason } from "./decide-delivery.ts"
import { readPullRequestNow } from "./read-pull-request-now.ts"

/** A `/review` comment whose pull request has still to be read: comment payloads carry no head. */
export const CommandTask = z.object({
  workspaceId: z.uuid(),
  projectId: z.uuid(),
  number: z.int(),
  commentId: z.int(),
  author: z.string(),
  deliveryId: z.uuid(),
  /** The second whose order was doubted when GitHub was asked before: what it shows of it now is the last state of that second. */
  doubted: z.iso.datetime().optional(),
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
  const now = await readPullRequestNow(context, command)
  await withProject(store, { ...command, hostId }, async (tx, { id, workspaceId, settings }): Promise<DeliveryVerdict> => {
    if ("fault" in now) return { outcome: "ignored", reason: now.fault }
    // An event that came during the read may know the pull request better than the read.
    const settles = now.snapshot.updatedAt.toISOString() === command.doubted
    const stored = await upsertPullRequest(tx, { id, workspaceId }, now.snapshot, settles)
    if (stored.snapshot === "tied") return askAgain(tx, command, stored.updatedAt)
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

/** An event of that second told something else: GitHub is asked once more when that second is over. */
async function askAgain(tx: Transaction, command: CommandTask, updatedAt: Date): Promise<DeliveryVerdict> {
  await requestRefresh(tx, { ...command, updatedAt })
  // After the look that is asked for first.
  const again = { ...command, doubted: updatedAt.toISOString() }
  await tx.sendTask(taskQueues.resolveCommandHead, again, { startAfter: REFRESH_DELAY_SECONDS + 1 })
  return { outcome: "accepted", reason: "command" }
}
