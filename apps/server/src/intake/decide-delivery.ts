import type { GalleyErrorCode } from "@galley/contract/errors"
import type { ProjectSettings } from "@galley/contract/settings"
import type { Sha } from "@galley/contract/sha"
import { isReviewCommand } from "@galley/github/review-command"
import type { WebhookEvent } from "@galley/github/webhook-event"

/** Why a delivery led to no review; stored with it and shown to people, so a reason is never renamed. */
export type IgnoreReason =
  | "event_not_used"
  | "action_not_used"
  | "no_installation"
  | "unknown_installation"
  | "installation_suspended"
  | "unknown_repository"
  | "inactive_project"
  | "draft"
  | "bot_author"
  | "closed"
  | "already_reviewed"
  | "base_unchanged"
  | "not_a_pull_request"
  | "not_a_command"
  | "command_from_bot"
  | "commander_not_allowed"
  | "overtaken"
  | "unknown_host"

/** What is known of the delivery's installation, repository and pull request, read in the transaction that decides. */
export type DeliveryFacts = Readonly<{
  installation: Readonly<{ suspended: boolean }> | null
  project: Readonly<{ settings: ProjectSettings }> | null
  pullRequest: Readonly<{ lastReviewedSha: Sha | null }> | null
}>

export type DeliveryDecision =
  | Readonly<{ action: "ignore"; reason: IgnoreReason }>
  | Readonly<{ action: "enqueue"; trigger: "opened" | "pushed" | "reopened" | "ready" | "base_changed"; debounceMs: number }>
  | Readonly<{ action: "cancel"; code: GalleyErrorCode }>
  | Readonly<{ action: "resolve_command" }>
  | Readonly<{ action: "update_installation" }>
  | Readonly<{ action: "update_repository" }>

const ignore = (reason: IgnoreReason): DeliveryDecision => ({ action: "ignore", reason })

const COMMANDERS = new Set(["OWNER", "MEMBER", "COLLABORATOR"])
const INSTALLATION_ACTIONS = new Set(["created", "deleted", "suspend", "unsuspend", "new_permissions_accepted"])
const REPOSITORY_ACTIONS = new Set(["renamed", "transferred", "privatized", "publicized", "deleted", "archived", "unarchived"])

type PullRequestEvent = Extract<WebhookEvent, { type: "pull_request" }>

const TRIGGERS = {
  opened: "opened",
  reopened: "reopened",
  ready_for_review: "ready",
  synchronize: "pushed",
  edited: "base_changed",
} as const

const isTrigger = (action: string): action is keyof typeof TRIGGERS => Object.hasOwn(TRIGGERS, action)

/** Why a pull request as it is now is not reviewed by itself, whatever brought it up; null when it is. Pure. */
export function pullRequestObstacle(
  pull: Pick<PullRequestEvent["pullRequest"], "open" | "draft" | "authorIsBot">,
  settings: ProjectSettings,
): IgnoreReason | null {
  if (!settings.active) return "inactive_project"
  if (!pull.open) return "closed"
  if (pull.draft && !settings.reviewDrafts) return "draft"
  return pull.authorIsBot && !settings.reviewBotPullRequests ? "bot_author" : null
}

function decidePullRequest(event: PullRequestEvent, settings: ProjectSettings, facts: DeliveryFacts): DeliveryDecision {
  if (event.action === "closed") return { action: "cancel", code: "pull_request_closed" }
  if (event.action === "converted_to_draft" && !settings.reviewDrafts) return { action: "cancel", code: "pull_request_draft" }
  if (!isTrigger(event.action)) return ignore("action_not_used")
  if (event.action === "edited" && !event.baseChanged) return ignore("base_unchanged")
  const obstacle = pullRequestObstacle(event.pullRequest, settings)
  if (obstacle !== null) return ignore(obstacle)
  if (event.action === "reopened" && facts.pullRequest?.lastReviewedSha === event.pullRequest.headSha) return ignore("already_reviewed")
  return { action: "enqueue", trigger: TRIGGERS[event.action], debounceMs: settings.debounceSeconds * 1_000 }
}

function decideComment(event: Extract<WebhookEvent, { type: "comment" }>): DeliveryDecision {
  if (event.action !== "created") return ignore("action_not_used")
  if (!event.onPullRequest) return ignore("not_a_pull_request")
  if (!isReviewCommand(event.body)) return ignore("not_a_command")
  if (event.authorIsBot) return ignore("command_from_bot")
  if (!COMMANDERS.has(event.authorAssociation)) return ignore("commander_not_allowed")
  if (!event.open) return ignore("closed")
  // The payload names no head and no draft state: an internal task reads the pull request and queues the job.
  return { action: "resolve_command" }
}

/**
 * Decides what one verified delivery leads to. Pure.
 *
 * @param facts what the database knows, with null for what it does not
 * @returns the one thing to do; `debounceMs` in milliseconds
 */
export function decideDelivery(event: WebhookEvent, facts: DeliveryFacts): DeliveryDecision {
  if (event.type === "other") return ignore("event_not_used")
  if (event.type === "repository") {
    if (!REPOSITORY_ACTIONS.has(event.action)) return ignore("action_not_used")
    return facts.project === null ? ignore("unknown_repository") : { action: "update_repository" }
  }
  if (event.installationId === null) return ignore("no_installation")
  if (event.type === "installation")
    return INSTALLATION_ACTIONS.has(event.action) ? { action: "update_installation" } : ignore("action_not_used")
  if (event.type === "installation_repositories") return { action: "update_installation" }
  if (facts.installation === null) return ignore("unknown_installation")
  if (facts.installation.suspended) return ignore("installation_suspended")
  if (facts.project === null) return ignore("unknown_repository")
  if (event.type === "comment") {
    const decision = decideComment(event)
    return decision.action === "resolve_command" && !facts.project.settings.active ? ignore("inactive_project") : decision
  }
  if (!facts.project.settings.active) return ignore("inactive_project")
  return decidePullRequest(event, facts.project.settings, facts)
}
