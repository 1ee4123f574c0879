import type { GalleyErrorCode } from "@galley/contract/errors"
import type { ProjectSettings } from "@galley/contract/settings"
import type { Sha } from "@galley/contract/sha"
import type { PullRequest } from "@galley/github/pull-request"
import type { PullRequestState } from "@galley/store/intake/settle-pull-request"
import { type IgnoreReason, pullRequestObstacle } from "./decide-delivery.ts"

export type RefreshDecision =
  | Readonly<{ action: "ignore"; reason: IgnoreReason }>
  | Readonly<{ action: "cancel"; code: GalleyErrorCode }>
  | Readonly<{ action: "enqueue"; debounceMs: number }>

const ignore = (reason: IgnoreReason): RefreshDecision => ({ action: "ignore", reason })

/**
 * Decides what it leads to that GitHub shows a pull request as it is: the same as the event of what changed. Pure.
 *
 * @param before what was known; null for a pull request that was not
 */
export function decideRefresh(
  before: PullRequestState | null,
  pull: PullRequest,
  settings: ProjectSettings,
  lastReviewedSha: Sha | null,
): RefreshDecision {
  if (!settings.active) return ignore("inactive_project")
  const becameDraft = before?.draft === false && pull.draft
  if (before?.open && !pull.open) return { action: "cancel", code: "pull_request_closed" }
  if (becameDraft && !settings.reviewDrafts) return { action: "cancel", code: "pull_request_draft" }

  const moved = before === null || before.headSha !== pull.headSha || before.baseRef !== pull.baseRef
  const becameReady = before?.draft === true && !pull.draft
  const reopened = before?.open === false && pull.open
  if (!moved && !becameReady && !reopened) return ignore(becameDraft ? "action_not_used" : "overtaken")
  const obstacle = pullRequestObstacle(pull, settings)
  if (obstacle !== null) return ignore(obstacle)
  if (!moved && !becameReady && lastReviewedSha === pull.headSha) return ignore("already_reviewed")
  return { action: "enqueue", debounceMs: settings.debounceSeconds * 1_000 }
}
