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
  const moved = before === null || before.headSha !== pull.headSha || before.baseRef !== pull.baseRef
  if (!moved && before.draft === pull.draft && before.open === pull.open) return { action: "ignore", reason: "overtaken" }
  if (!pull.open) return { action: "cancel", code: "pull_request_closed" }
  if (pull.draft && !settings.reviewDrafts) return { action: "cancel", code: "pull_request_draft" }
  const obstacle = pullRequestObstacle(pull, settings)
  if (obstacle !== null) return { action: "ignore", reason: obstacle }
  if (!moved && lastReviewedSha === pull.headSha) return { action: "ignore", reason: "already_reviewed" }
  return { action: "enqueue", debounceMs: settings.debounceSeconds * 1_000 }
}
