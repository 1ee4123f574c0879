import type { WebhookEvent } from "@galley/github/webhook-event"
import { upsertPullRequest } from "@galley/store/intake/upsert-pull-request"
import type { DeliveryVerdict, IntakeProject, IntakeTarget } from "@galley/store/intake/with-intake"
import { cancelWaitingJobs } from "@galley/store/queue/cancel-waiting-jobs"
import { enqueueJob } from "@galley/store/queue/enqueue-job"
import { AUTOMATIC_PRIORITY } from "@galley/store/queue/job"
import { taskQueues } from "@galley/store/tasks"
import type { Transaction } from "@galley/store/transaction"
import type { ServerContext } from "../context.ts"
import { applyInstallationEvent } from "./apply-installation-event.ts"
import { type DeliveryDecision, type DeliveryFacts, decideDelivery } from "./decide-delivery.ts"
import { pullRequestSnapshot } from "./pull-request-snapshot.ts"

type PullRequestEvent = Extract<WebhookEvent, { type: "pull_request" }>

/** Decides on a delivery and applies the decision in the delivery's own transaction. The verdict is stored with the delivery. */
export async function applyDecision(
  context: ServerContext,
  tx: Transaction,
  deliveryId: string,
  event: WebhookEvent,
  target: IntakeTarget,
): Promise<DeliveryVerdict> {
  const facts = factsOf(target)
  const decision = decideDelivery(event, facts)
  // What an event says of its pull request is kept whatever is decided, as far as the project is ours to know.
  const project = facts.project === null || facts.project.removed ? null : target.project
  if (event.type === "pull_request" && project !== null) return applyToPullRequest(context, tx, event, project, decision)
  switch (decision.action) {
    case "ignore":
      return { outcome: "ignored", reason: decision.reason }
    case "resolve_command": {
      if (event.type !== "comment" || project === null) throw new Error("a command has a comment and a project")
      const { number, commentId, author } = event
      const command = { workspaceId: project.workspaceId, projectId: project.id, number, commentId, author, deliveryId }
      await tx.sendTask(taskQueues.resolveCommandHead, command)
      await tx.sendTask(taskQueues.reactToCommand, command)
      return { outcome: "accepted", reason: "command" }
    }
    default:
      return applyInstallationEvent(context, tx, event, target)
  }
}

/** A project counts only for an event of the installation that owns it, so that tenants are never mixed. */
function factsOf({ installation, project, pullRequest }: IntakeTarget): DeliveryFacts {
  const known = installation !== null && !installation.removed ? installation : null
  const ours = project !== null && (known === null || project.installationId === known.id) ? project : null
  return {
    installation: known === null ? null : { suspended: known.suspended },
    project: ours === null ? null : { settings: ours.settings, removed: ours.removed },
    pullRequest: pullRequest === null ? null : { lastReviewedSha: pullRequest.lastReviewedSha },
  }
}

async function applyToPullRequest(
  context: ServerContext,
  tx: Transaction,
  event: PullRequestEvent,
  project: IntakeProject,
  decision: DeliveryDecision,
): Promise<DeliveryVerdict> {
  const pull = event.pullRequest
  const repositoryUrl = `${context.config.github.webUrl}/${event.repository.owner}/${event.repository.name}`
  const snapshot = pullRequestSnapshot(pull, repositoryUrl)
  const stored = await upsertPullRequest(tx, project, snapshot)
  if (decision.action === "cancel") {
    const cancelled = await cancelWaitingJobs(tx, project.workspaceId, { pullRequestId: stored.id }, decision.code)
    return { outcome: cancelled > 0 ? "cancelled" : "ignored", reason: decision.code }
  }
  if (decision.action === "ignore") return { outcome: "ignored", reason: decision.reason }
  if (decision.action !== "enqueue") throw new Error(`a pull request event does not lead to ${decision.action}`)
  // Deliveries come in any order: one that was overtaken says nothing that is not known better.
  if (!stored.isNewest) return { outcome: "ignored", reason: "overtaken" }
  const job = await enqueueJob(tx, {
    workspaceId: project.workspaceId,
    pullRequestId: stored.id,
    headSha: pull.headSha,
    baseSha: pull.baseSha,
    headUpdatedAt: snapshot.updatedAt,
    kind: project.settings.reviewKind,
    cause: "event",
    debounceMs: decision.debounceMs,
    priority: AUTOMATIC_PRIORITY,
  })
  return { outcome: "queued", reason: null, jobId: job.jobId }
}
