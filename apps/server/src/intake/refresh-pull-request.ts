import { GalleyError } from "@galley/contract/errors"
import type { ProjectSettings } from "@galley/contract/settings"
import { requestRefresh } from "@galley/store/intake/request-refresh"
import { settlePullRequest } from "@galley/store/intake/settle-pull-request"
import { settleTiedDeliveries } from "@galley/store/intake/settle-tied-deliveries"
import type { StoredPullRequest } from "@galley/store/intake/upsert-pull-request"
import type { DeliveryVerdict } from "@galley/store/intake/with-intake"
import { cancelWaitingJobs } from "@galley/store/queue/cancel-waiting-jobs"
import { enqueueJob } from "@galley/store/queue/enqueue-job"
import { AUTOMATIC_PRIORITY } from "@galley/store/queue/job"
import { markReconciled } from "@galley/store/reconciler/mark-reconciled"
import { withLiveProject } from "@galley/store/reconciler/with-live-project"
import type { Transaction } from "@galley/store/transaction"
import { z } from "zod"
import type { ServerContext } from "../context.ts"
import { decideRefresh, type RefreshDecision } from "./decide-refresh.ts"
import { type PullRequestNow, readPullRequestNow } from "./read-pull-request-now.ts"

/** A pull request whose state of one second, `updatedAt`, is doubted. */
export const RefreshTask = z.object({ workspaceId: z.uuid(), projectId: z.uuid(), number: z.int(), updatedAt: z.coerce.date() })
export type RefreshTask = z.infer<typeof RefreshTask>

/**
 * Reads a pull request from GitHub and does what the event of its present state would have done. Runs as a retried task, when the second in
 * question is over. Deliveries that nothing else could tell apart get their verdict.
 */
export async function refreshPullRequest(context: ServerContext, task: RefreshTask): Promise<void> {
  const { store } = context
  const now = await readPullRequestNow(context, task)
  if ("fault" in now) return settleTiedDeliveries(store, task, { outcome: "ignored", reason: now.fault })
  if (now.snapshot.updatedAt < task.updatedAt) throw new GalleyError("github_unavailable", "GitHub shows an older state than it told of")
  const isLive = await withLiveProject(store, task, async (tx, { settings }) => {
    const verdict = await apply(tx, task, now, settings)
    if (verdict !== null) await settleTiedDeliveries(tx, task, verdict)
    return true
  })
  if (isLive === null) await settleTiedDeliveries(store, task, { outcome: "ignored", reason: "repository_gone" })
}

/** Null when GitHub has to be asked again. */
async function apply(
  tx: Transaction,
  task: RefreshTask,
  { pull, snapshot }: PullRequestNow,
  settings: ProjectSettings,
): Promise<DeliveryVerdict | null> {
  const { workspaceId, projectId: id } = task
  const isLastOfItsSecond = snapshot.updatedAt.getTime() === task.updatedAt.getTime()
  const { before, stored } = await settlePullRequest(tx, { id, workspaceId }, snapshot, isLastOfItsSecond)
  if (stored.snapshot === "overtaken") return { outcome: "ignored", reason: "overtaken" }
  if (stored.snapshot === "tied") {
    // A later second, and again an event of it that tells something else.
    await requestRefresh(tx, { ...task, updatedAt: snapshot.updatedAt })
    return null
  }
  return carryOut(tx, task, stored, settings, decideRefresh(before, pull, settings, stored.lastReviewedSha))
}

async function carryOut(
  tx: Transaction,
  { workspaceId }: RefreshTask,
  pullRequest: StoredPullRequest,
  settings: ProjectSettings,
  decision: RefreshDecision,
): Promise<DeliveryVerdict> {
  if (decision.action === "ignore") return { outcome: "ignored", reason: decision.reason }
  if (decision.action === "cancel") {
    const cancelled = await cancelWaitingJobs(tx, workspaceId, { pullRequestId: pullRequest.id }, decision.code)
    return { outcome: cancelled > 0 ? "cancelled" : "ignored", reason: decision.code }
  }
  // The event of this very state may still be on its way.
  await markReconciled(tx, pullRequest.id)
  const { jobId } = await enqueueJob(tx, {
    workspaceId,
    pullRequestId: pullRequest.id,
    headSha: pullRequest.headSha,
    baseSha: pullRequest.baseSha,
    headUpdatedAt: pullRequest.updatedAt,
    kind: settings.reviewKind,
    cause: "event",
    debounceMs: decision.debounceMs,
    priority: AUTOMATIC_PRIORITY,
  })
  return { outcome: "queued", reason: null, jobId }
}
