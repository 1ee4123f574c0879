import { type Links, nodeId } from "../links.ts"
import type { Comment, PullRequest, Reaction, State } from "../state.ts"
import { accountView } from "./account-view.ts"
import { appView } from "./app-view.ts"
import { repositoryPage, repositoryUrl } from "./repository-view.ts"

export const reactionContents = ["+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes"] as const

/** Comments of a pull request, oldest first. */
export function commentsOf(state: State, pullRequest: PullRequest): Comment[] {
  return [...state.comments.values()].filter((comment) => comment.pullRequest === pullRequest)
}

/** A comment on a pull request, with the App that wrote it, if any. */
export function commentView(state: State, comment: Comment, links: Links) {
  const { repository, number } = comment.pullRequest
  const url = `${repositoryUrl(repository, links)}/issues/comments/${comment.id}`
  return {
    url,
    html_url: `${repositoryPage(repository, links)}/pull/${number}#issuecomment-${comment.id}`,
    issue_url: `${repositoryUrl(repository, links)}/issues/${number}`,
    id: comment.id,
    node_id: nodeId("IssueComment", comment.id),
    user: accountView(comment.author, links),
    created_at: comment.createdAt,
    updated_at: comment.updatedAt,
    body: comment.body,
    author_association: comment.authorAssociation,
    reactions: rollup(comment.reactions, `${url}/reactions`),
    performed_via_github_app: comment.byApp ? appView(state.app, links) : null,
  }
}

/** Reactions counted by content. */
export function rollup(reactions: readonly Reaction[], url: string) {
  const counts = Object.fromEntries(reactionContents.map((content) => [content, reactions.filter((one) => one.content === content).length]))
  return { url, total_count: reactions.length, ...counts }
}

export function reactionView(reaction: Reaction, links: Links) {
  return {
    id: reaction.id,
    node_id: nodeId("Reaction", reaction.id),
    user: accountView(reaction.user, links),
    content: reaction.content,
    created_at: reaction.createdAt,
  }
}
