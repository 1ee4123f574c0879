import type { Context } from "../context.ts"
import type { Account, Delivery, PullRequest } from "../state.ts"
import { pullRequestView } from "../views/pull-request-view.ts"
import { emitRepositoryEvent } from "./event-payload.ts"

/** Sends `pull_request`. `more` holds what only this action carries (`before`, `after`, `changes`). */
export function emitPullRequest(
  context: Context,
  action: string,
  pullRequest: PullRequest,
  sender: Account,
  more: Readonly<Record<string, unknown>> = {},
): Promise<Delivery | null> {
  return emitRepositoryEvent(context, "pull_request", pullRequest.repository, sender, {
    action,
    number: pullRequest.number,
    pull_request: pullRequestView(context.state, pullRequest, context.links),
    ...more,
  })
}
