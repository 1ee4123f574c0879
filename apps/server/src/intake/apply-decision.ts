import type { WebhookEvent } from "@galley/github/webhook-event"
import type { IntakeTarget } from "@galley/store/intake/read-target"
import type { DecidedDelivery } from "@galley/store/intake/take-delivery"
import type { DeliveryVerdict } from "@galley/store/intake/with-intake"
import { taskQueues } from "@galley/store/tasks"
import type { Transaction } from "@galley/store/transaction"
import type { ServerContext } from "../context.ts"
import { applyInstallationEvent } from "./apply-installation-event.ts"
import { type DeliveryDecision, type DeliveryFacts, decideDelivery } from "./decide-delivery.ts"
import { pullRequestSnapshot } from "./pull-request-snapshot.ts"

/**
 * The decision on a delivery that needs no more than its pull request and that one's waiting job, as nearly all do. Pure.
 *
 * @param webUrl address of the GitHub host, without a slash at the end
 * @returns null for a command or what changes an installation: `applyDecision` is for these
 */
export function decideStep(event: WebhookEvent, target: IntakeTarget, webUrl: string): DecidedDelivery | null {
  const facts = factsOf(event, target)
  const step = stepOf(decideDelivery(event, facts))
  if (step === null) return null
  // What an event says of its pull request is kept whatever is decided, as far as the project is ours to know.
  if (event.type !== "pull_request" || facts.project === null) return { step, pullRequest: null }
  const { owner, name } = event.repository
  return { step, pullRequest: pullRequestSnapshot(event.pullRequest, `${webUrl}/${owner}/${name}`) }
}

/** Whether the decision depends on what is known of the pull request. */
export const needsPullRequest = (event: WebhookEvent) => event.type === "pull_request" && event.action === "reopened"

function stepOf(decision: DeliveryDecision): DecidedDelivery["step"] | null {
  const isStep = decision.action === "ignore" || decision.action === "cancel" || decision.action === "enqueue"
  return isStep ? decision : null
}

/** Decides on a delivery and applies the decision in the delivery's own transaction. The verdict is stored with the delivery. */
export async function applyDecision(
  context: ServerContext,
  tx: Transaction,
  deliveryId: string,
  event: WebhookEvent,
  target: IntakeTarget,
): Promise<DeliveryVerdict> {
  const decision = decideDelivery(event, factsOf(event, target))
  if (decision.action === "ignore") return { outcome: "ignored", reason: decision.reason }
  if (decision.action !== "resolve_command") return applyInstallationEvent(context, tx, event, target)
  if (event.type !== "comment" || target.project === null) throw new Error("a command has a comment and a project")
  const { number, commentId, author } = event
  const { id, workspaceId } = target.project
  const command = { workspaceId, projectId: id, number, commentId, author, deliveryId }
  await tx.sendTask(taskQueues.resolveCommandHead, command)
  await tx.sendTask(taskQueues.reactToCommand, command)
  return { outcome: "accepted", reason: "command" }
}

/**
 * A project counts only for an event of the installation that owns it, or of none, so that tenants are never mixed; a removed one only for
 * what its repository tells of itself.
 */
function factsOf(event: WebhookEvent, { installation, project, pullRequest }: IntakeTarget): DeliveryFacts {
  const known = installation !== null && !installation.removed ? installation : null
  const isOwned = event.installationId === null || project?.installationId === installation?.id
  const ours = project !== null && isOwned && (!project.removed || event.type === "repository") ? project : null
  return {
    installation: known === null ? null : { suspended: known.suspended },
    project: ours === null ? null : { settings: ours.settings },
    pullRequest,
  }
}
