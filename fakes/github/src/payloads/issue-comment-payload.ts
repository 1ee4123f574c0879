import type { Context } from "../context.ts"
import type { Account, Comment, Delivery } from "../state.ts"
import { commentView } from "../views/comment-view.ts"
import { issueView } from "../views/issue-view.ts"
import { emitRepositoryEvent } from "./event-payload.ts"

/** Sends `issue_comment`. It names the pull request as an issue and carries no head. */
export function emitIssueComment(
  context: Context,
  action: "created" | "edited" | "deleted",
  comment: Comment,
  sender: Account,
  more: Readonly<Record<string, unknown>> = {},
): Promise<Delivery | null> {
  return emitRepositoryEvent(context, "issue_comment", comment.pullRequest.repository, sender, {
    action,
    ...more,
    issue: issueView(context.state, comment.pullRequest, context.links),
    comment: commentView(context.state, comment, context.links),
  })
}
