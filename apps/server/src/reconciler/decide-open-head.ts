import type { ProjectSettings } from "@galley/contract/settings"
import type { OpenPullRequest } from "@galley/github/open-pull-requests"
import type { HeadFacts } from "@galley/store/reconciler/find-head-facts"
import { type IgnoreReason, pullRequestObstacle } from "../intake/decide-delivery.ts"

export type OpenHeadDecision =
  | Readonly<{ action: "enqueue" }>
  | Readonly<{ action: "ignore"; reason: IgnoreReason | "already_handled" | "before_activation" }>

const ignore = (reason: Extract<OpenHeadDecision, { action: "ignore" }>["reason"]): OpenHeadDecision => ({ action: "ignore", reason })

/**
 * Decides whether the head of an open pull request was missed. Pure. The rules are those of an event; what was switched on is reviewed from
 * then on, so a pull request that was open before and never reviewed waits for its next event, or a new project would cost a flood of
 * reviews that nobody asked for.
 *
 * @param activatedAt when the project was switched on; null when that is not known
 */
export function decideOpenHead(
  pull: OpenPullRequest,
  settings: ProjectSettings,
  facts: Omit<HeadFacts, "number">,
  activatedAt: Date | null,
): OpenHeadDecision {
  const obstacle = pullRequestObstacle(pull, settings)
  if (obstacle !== null) return ignore(obstacle)
  if (facts.reviewed) return ignore("already_reviewed")
  if (facts.handled) return ignore("already_handled")
  if (activatedAt !== null && pull.createdAt < activatedAt && !facts.underReview) return ignore("before_activation")
  return { action: "enqueue" }
}
