import { type Links, nodeId } from "../links.ts"
import type { PullRequest, Side, State } from "../state.ts"
import { accountView } from "./account-view.ts"
import { commentsOf } from "./comment-view.ts"
import { repositoryPage, repositoryUrl, repositoryView } from "./repository-view.ts"

/** Address of a pull request's page. */
export function pullRequestPage({ repository, number }: PullRequest, links: Links): string {
  return `${repositoryPage(repository, links)}/pull/${number}`
}

/** A pull request as lists show it. */
export function pullRequestSimpleView(pullRequest: PullRequest, links: Links) {
  const { repository, number } = pullRequest
  const page = pullRequestPage(pullRequest, links)
  const url = `${repositoryUrl(repository, links)}/pulls/${number}`
  const issueUrl = `${repositoryUrl(repository, links)}/issues/${number}`
  const addresses = {
    self: url,
    html: page,
    issue: issueUrl,
    comments: `${issueUrl}/comments`,
    review_comments: `${url}/comments`,
    review_comment: `${repositoryUrl(repository, links)}/pulls/comments{/number}`,
    commits: `${url}/commits`,
    statuses: `${repositoryUrl(repository, links)}/statuses/${pullRequest.head.sha}`,
  }
  return {
    url,
    id: pullRequest.id,
    node_id: nodeId("PullRequest", pullRequest.id),
    html_url: page,
    diff_url: `${page}.diff`,
    patch_url: `${page}.patch`,
    issue_url: issueUrl,
    number,
    state: pullRequest.state,
    locked: pullRequest.locked,
    title: pullRequest.title,
    user: accountView(pullRequest.author, links),
    body: pullRequest.body,
    created_at: pullRequest.createdAt,
    updated_at: pullRequest.updatedAt,
    closed_at: pullRequest.closedAt,
    merged_at: pullRequest.merged ? pullRequest.closedAt : null,
    merge_commit_sha: null,
    assignee: null,
    assignees: [],
    requested_reviewers: [],
    requested_teams: [],
    labels: [],
    milestone: null,
    draft: pullRequest.draft,
    commits_url: addresses.commits,
    review_comments_url: addresses.review_comments,
    review_comment_url: addresses.review_comment,
    comments_url: addresses.comments,
    statuses_url: addresses.statuses,
    head: sideView(pullRequest.head, links),
    base: sideView(pullRequest.base, links),
    _links: Object.fromEntries(Object.entries(addresses).map(([rel, href]) => [rel, { href }])),
    author_association: pullRequest.authorAssociation,
    auto_merge: null,
    active_lock_reason: null,
  }
}

function sideView({ ref, sha, repository }: Side, links: Links) {
  return {
    label: `${repository.owner.login}:${ref}`,
    ref,
    sha,
    user: accountView(repository.owner, links),
    repo: repositoryView(repository, links),
  }
}

/** A pull request as its own address and webhooks show it. Whether it merges cleanly is never computed. */
export function pullRequestView(state: State, pullRequest: PullRequest, links: Links) {
  return {
    ...pullRequestSimpleView(pullRequest, links),
    merged: pullRequest.merged,
    mergeable: null,
    rebaseable: null,
    mergeable_state: "unknown",
    merged_by: pullRequest.merged ? accountView(pullRequest.repository.owner, links) : null,
    comments: commentsOf(state, pullRequest).length,
    review_comments: 0,
    maintainer_can_modify: false,
    commits: pullRequest.facts.commits,
    additions: pullRequest.facts.additions,
    deletions: pullRequest.facts.deletions,
    changed_files: pullRequest.facts.changedFiles,
  }
}
