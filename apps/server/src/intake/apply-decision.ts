import type { EventOf, WebhookEvent } from "@galley/github/webhook-event"
import { upsertPullRequest } from "@galley/store/intake/upsert-pull-request"
import type { DeliveryVerdict, IntakeProject, IntakeTarget } from "@galley/store/intake/with-intake"
import { cancelWaitingJobs } from "@galley/store/queue/cancel-waiting-jobs"
import { enqueueJob } from "@galley/store/queue/enqueue-job"
import { AUTOMATIC_PRIORITY } from "@galley/store/queue/job"
import { taskQueues } from "@galley/store/tasks"
import type { Transaction } from "@galley/store/transaction"
import type { ServerContext } from "../context.ts"
import { applyInstallationEvent, applyRepositoryEvent } from "./apply-installation-event.ts"
import { type DeliveryDecision, type DeliveryFacts, decideDelivery } from "./decide-delivery.ts"
import { pullRequestSnapshot } from "./pull-request-snapshot.ts"
import type { CommandTask } from "./resolve-command.ts"

type Decision<A extends DeliveryDecision["action"]> = Extract<DeliveryDecision<IntakeProject>, { action: A }>

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
  switch (decision.action) {
    case "ignore":
      // What an event says of its pull request is kept whatever is decided, as far as the project is ours to know.
      if (event.type === "pull_request" && facts.project?.removed === false) await keepPullRequest(context, tx, event, facts.project)
      return { outcome: "ignored", reason: decision.reason }
    case "enqueue":
    case "cancel":
      return applyToPullRequest(context, tx, decision)
    case "resolve_command":
      return sendCommand(tx, decision, deliveryId)
    case "update_installation":
      return applyInstallationEvent(context, tx, decision.event, target.installation)
    case "update_repository":
      return applyRepositoryEvent(context, tx, decision.event, decision.project)
  }
}

/** A removed installation is as good as none. */
const factsOf = ({ installation, project, pullRequest }: IntakeTarget): DeliveryFacts<IntakeProject> => ({
  installation: installation === null || installation.removed ? null : installation,
  project,
  pullRequest,
})

async function sendCommand(tx: Transaction, { event, project }: Decision<"resolve_command">, deliveryId: string): Promise<DeliveryVerdict> {
  const { number, commentId, author } = event
  const command: CommandTask = { workspaceId: project.workspaceId, projectId: project.id, number, commentId, author, deliveryId }
  await tx.sendTask(taskQueues.resolveCommandHead, command)
  await tx.sendTask(taskQueues.reactToCommand, command)
  return { outcome: "accepted", reason: "command" }
}

function keepPullRequest({ config }: ServerContext, tx: Transaction, event: EventOf<"pull_request">, project: IntakeProject) {
  const repositoryUrl = `${config.github.webUrl}/${event.repository.owner}/${event.repository.name}`
  return upsertPullRequest(tx, project, pullRequestSnapshot(event.pullRequest, repositoryUrl))
}

async function applyToPullRequest(
  context: ServerContext,
  tx: Transaction,
  decision: Decision<"enqueue" | "cancel">,
): Promise<DeliveryVerdict> {
  const { event, project } = decision
  const stored = await keepPullRequest(context, tx, event, project)
  // Deliveries come in any order: one that was overtaken says nothing that is not known better.
  if (!stored.isNewest) return { outcome: "ignored", reason: "overtaken" }
  if (decision.action === "cancel") {
    const cancelled = await cancelWaitingJobs(tx, project.workspaceId, { pullRequestId: stored.id }, decision.code)
    return { outcome: cancelled > 0 ? "cancelled" : "ignored", reason: decision.code }
  }
  const job = await enqueueJob(tx, {
    workspaceId: project.workspaceId,
    pullRequestId: stored.id,
    headSha: stored.headSha,
    baseSha: stored.baseSha,
    headUpdatedAt: stored.updatedAt,
    kind: project.settings.reviewKind,
    cause: "event",
    debounceMs: decision.debounceMs,
    priority: AUTOMATIC_PRIORITY,
  })
  return { outcome: "queued", reason: null, jobId: job.jobId }
}
