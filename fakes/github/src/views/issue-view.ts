import { type Links, nodeId } from "../links.ts"
import type { PullRequest, State } from "../state.ts"
import { accountView } from "./account-view.ts"
import { commentsOf, rollup } from "./comment-view.ts"
import { pullRequestPage } from "./pull-request-view.ts"
import { repositoryUrl } from "./repository-view.ts"

/** A pull request seen as an issue, the form comment webhooks carry. */
export function issueView(state: State, pullRequest: PullRequest, links: Links) {
  const { repository, number } = pullRequest
  const page = pullRequestPage(pullRequest, links)
  const url = `${repositoryUrl(repository, links)}/issues/${number}`
  return {
    url,
    repository_url: repositoryUrl(repository, links),
    labels_url: `${url}/labels{/name}`,
    comments_url: `${url}/comments`,
    events_url: `${url}/events`,
    html_url: page,
    id: pullRequest.id,
    node_id: nodeId("PullRequest", pullRequest.id),
    number,
    title: pullRequest.title,
    user: accountView(pullRequest.author, links),
    labels: [],
    state: pullRequest.state,
    locked: pullRequest.locked,
    assignee: null,
    assignees: [],
    milestone: null,
    comments: commentsOf(state, pullRequest).length,
    created_at: pullRequest.createdAt,
    updated_at: pullRequest.updatedAt,
    closed_at: pullRequest.closedAt,
    author_association: pullRequest.authorAssociation,
    active_lock_reason: null,
    draft: pullRequest.draft,
    pull_request: {
      url: `${repositoryUrl(repository, links)}/pulls/${number}`,
      html_url: page,
      diff_url: `${page}.diff`,
      patch_url: `${page}.patch`,
      merged_at: pullRequest.merged ? pullRequest.closedAt : null,
    },
    body: pullRequest.body,
    reactions: rollup(state.reactions.get(pullRequest.id) ?? [], `${url}/reactions`),
    timeline_url: `${url}/timeline`,
    performed_via_github_app: null,
    state_reason: null,
  }
}
