import type { EventOf, WebhookEvent } from "@galley/github/webhook-event"
import type { IntakeProject, IntakeTarget } from "@galley/store/intake/read-target"
import { requestRefresh } from "@galley/store/intake/request-refresh"
import type { DecidedDelivery } from "@galley/store/intake/take-delivery"
import type { DeliveryVerdict } from "@galley/store/intake/with-intake"
import { taskQueues } from "@galley/store/tasks"
import type { Transaction } from "@galley/store/transaction"
import type { ServerContext } from "../context.ts"
import { applyInstallationEvent, applyRepositoryEvent } from "./apply-installation-event.ts"
import { type DeliveryDecision, type DeliveryFacts, decideDelivery } from "./decide-delivery.ts"
import { pullRequestSnapshot } from "./pull-request-snapshot.ts"
import type { CommandTask } from "./resolve-command.ts"

type Decision<A extends DeliveryDecision["action"]> = Extract<DeliveryDecision<IntakeProject>, { action: A }>

/**
 * The decision on a delivery that needs no more than its pull request and that one's waiting job, as nearly all do. Pure.
 *
 * @param webUrl address of the GitHub host, without a slash at the end
 * @returns null for a command or what changes an installation: `applyDecision` is for these
 */
export function decideStep(event: WebhookEvent, target: IntakeTarget, webUrl: string): DecidedDelivery | null {
  const step = decideDelivery(event, factsOf(target))
  if (step.action !== "ignore" && step.action !== "cancel" && step.action !== "enqueue") return null
  // What an event says of its pull request is kept whatever is decided, as far as the project is ours to know.
  if (event.type !== "pull_request" || target.project === null || target.project.removed) return { step, pullRequest: null }
  const { owner, name } = event.repository
  return { step, pullRequest: pullRequestSnapshot(event.pullRequest, `${webUrl}/${owner}/${name}`) }
}

/** Whether the decision depends on what is known of the pull request. */
export const needsPullRequest = (event: WebhookEvent) => event.type === "pull_request" && event.action === "reopened"

/**
 * Decides on a delivery for which `decideStep` had no step, or whose pull request is known in another state of the same second, and applies
 * the decision in the delivery's own transaction. The verdict is stored with the delivery.
 */
export async function applyDecision(
  context: ServerContext,
  tx: Transaction,
  deliveryId: string,
  event: WebhookEvent,
  target: IntakeTarget,
): Promise<DeliveryVerdict> {
  // A pull request comes here only when its second did not tell its order (`tied`): what was decided on it counts for nothing.
  if (event.type === "pull_request" && target.project !== null) return askGitHub(tx, event, target.project)
  const decision = decideDelivery(event, factsOf(target))
  switch (decision.action) {
    case "ignore":
      return { outcome: "ignored", reason: decision.reason }
    case "resolve_command":
      return sendCommand(tx, decision, deliveryId)
    case "update_installation":
      return applyInstallationEvent(context, tx, decision.event, target.installation)
    case "update_repository":
      return applyRepositoryEvent(context, tx, decision.event, decision.project)
    case "enqueue":
    case "cancel":
      throw new Error("an event of a pull request has a project here")
  }
}

/** A removed installation is as good as none. */
const factsOf = ({ installation, project, pullRequest }: IntakeTarget): DeliveryFacts<IntakeProject> => ({
  installation: installation === null || installation.removed ? null : installation,
  project,
  pullRequest,
})

/** Which state came later, GitHub alone can tell. */
async function askGitHub(tx: Transaction, { pullRequest }: EventOf<"pull_request">, project: IntakeProject): Promise<DeliveryVerdict> {
  const { number, updatedAt } = pullRequest
  await requestRefresh(tx, { workspaceId: project.workspaceId, projectId: project.id, number, updatedAt: new Date(updatedAt) })
  return { outcome: "accepted", reason: "same_second" }
}

async function sendCommand(tx: Transaction, { event, project }: Decision<"resolve_command">, deliveryId: string): Promise<DeliveryVerdict> {
  const { number, commentId, author } = event
  const command: CommandTask = { workspaceId: project.workspaceId, projectId: project.id, number, commentId, author, deliveryId }
  await tx.sendTask(taskQueues.resolveCommandHead, command)
  await tx.sendTask(taskQueues.reactToCommand, command)
  return { outcome: "accepted", reason: "command" }
}
