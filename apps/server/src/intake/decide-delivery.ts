import type { GalleyErrorCode } from "@galley/contract/errors"
import type { ProjectSettings } from "@galley/contract/settings"
import type { Sha } from "@galley/contract/sha"
import type { PullRequest } from "@galley/github/pull-request"
import { isReviewCommand } from "@galley/github/review-command"
import type { EventOf, WebhookEvent } from "@galley/github/webhook-event"

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

export type ProjectFacts = Readonly<{ settings: ProjectSettings; removed: boolean }>

/** What is known of the delivery's installation, repository and pull request, read in the transaction that decides. */
export type DeliveryFacts<P extends ProjectFacts = ProjectFacts> = Readonly<{
  installation: Readonly<{ suspended: boolean }> | null
  project: P | null
  pullRequest: Readonly<{ lastReviewedSha: Sha | null }> | null
}>

/** The one thing to do, with the event and the project it is about. */
export type DeliveryDecision<P extends ProjectFacts = ProjectFacts> =
  | Ignored
  | Readonly<{ action: "enqueue"; event: EventOf<"pull_request">; project: P; debounceMs: number }>
  | Readonly<{ action: "cancel"; event: EventOf<"pull_request">; project: P; code: GalleyErrorCode }>
  | Readonly<{ action: "resolve_command"; event: EventOf<"comment">; project: P }>
  | Readonly<{ action: "update_installation"; event: EventOf<"installation" | "installation_repositories"> }>
  | Readonly<{ action: "update_repository"; event: EventOf<"repository">; project: P }>
type Ignored = Readonly<{ action: "ignore"; reason: IgnoreReason }>

const ignore = (reason: IgnoreReason): Ignored => ({ action: "ignore", reason })

const COMMANDERS = new Set(["OWNER", "MEMBER", "COLLABORATOR"])
const INSTALLATION_ACTIONS = new Set(["created", "deleted", "suspend", "unsuspend", "new_permissions_accepted"])
const REPOSITORY_ACTIONS = new Set(["renamed", "transferred", "privatized", "publicized", "deleted", "archived", "unarchived"])

const REVIEWED_ACTIONS = new Set(["opened", "reopened", "ready_for_review", "synchronize", "edited"])

/** Why a pull request as it is now is not reviewed by itself, whatever brought it up; null when it is. Pure. */
export function pullRequestObstacle(
  pull: Pick<PullRequest, "open" | "draft" | "authorIsBot">,
  settings: ProjectSettings,
): IgnoreReason | null {
  if (!settings.active) return "inactive_project"
  if (!pull.open) return "closed"
  if (pull.draft && !settings.reviewDrafts) return "draft"
  return pull.authorIsBot && !settings.reviewBotPullRequests ? "bot_author" : null
}

function decidePullRequest<P extends ProjectFacts>(
  event: EventOf<"pull_request">,
  project: P,
  { pullRequest }: DeliveryFacts<P>,
): DeliveryDecision<P> {
  const { settings } = project
  if (event.action === "closed") return { action: "cancel", event, project, code: "pull_request_closed" }
  if (event.action === "converted_to_draft" && !settings.reviewDrafts) {
    return { action: "cancel", event, project, code: "pull_request_draft" }
  }
  if (!REVIEWED_ACTIONS.has(event.action)) return ignore("action_not_used")
  if (event.action === "edited" && !event.baseChanged) return ignore("base_unchanged")
  const obstacle = pullRequestObstacle(event.pullRequest, settings)
  if (obstacle !== null) return ignore(obstacle)
  if (event.action === "reopened" && pullRequest?.lastReviewedSha === event.pullRequest.headSha) return ignore("already_reviewed")
  return { action: "enqueue", event, project, debounceMs: settings.debounceSeconds * 1_000 }
}

function decideComment<P extends ProjectFacts>(event: EventOf<"comment">, project: P): DeliveryDecision<P> {
  if (event.action !== "created") return ignore("action_not_used")
  if (!event.onPullRequest) return ignore("not_a_pull_request")
  if (!isReviewCommand(event.body)) return ignore("not_a_command")
  if (event.authorIsBot) return ignore("command_from_bot")
  if (!COMMANDERS.has(event.authorAssociation)) return ignore("commander_not_allowed")
  if (!event.open) return ignore("closed")
  if (!project.settings.active) return ignore("inactive_project")
  // The payload names no head and no draft state: an internal task reads the pull request and queues the job.
  return { action: "resolve_command", event, project }
}

/**
 * Decides what one verified delivery leads to. Pure.
 *
 * @param facts what the database knows, with null for what it does not
 * @returns the one thing to do; `debounceMs` in milliseconds
 */
export function decideDelivery<P extends ProjectFacts>(event: WebhookEvent, facts: DeliveryFacts<P>): DeliveryDecision<P> {
  const { installation, project } = facts
  if (event.type === "other") return ignore("event_not_used")
  if (event.type === "repository") {
    if (!REPOSITORY_ACTIONS.has(event.action)) return ignore("action_not_used")
    const known = project !== null && (!project.removed || event.action === "unarchived")
    return known ? { action: "update_repository", event, project } : ignore("unknown_repository")
  }
  if (event.type === "installation")
    return INSTALLATION_ACTIONS.has(event.action) ? { action: "update_installation", event } : ignore("action_not_used")
  if (event.type === "installation_repositories") return { action: "update_installation", event }
  if (event.installationId === null) return ignore("no_installation")
  if (installation === null) return ignore("unknown_installation")
  if (installation.suspended) return ignore("installation_suspended")
  if (project === null || project.removed) return ignore("unknown_repository")
  if (event.type === "comment") return decideComment(event, project)
  if (!project.settings.active) return ignore("inactive_project")
  return decidePullRequest(event, project, facts)
}
