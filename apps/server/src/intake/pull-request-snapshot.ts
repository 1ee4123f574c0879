import type { PullRequest } from "@galley/github/pull-request"
import type { PullRequestSnapshot } from "@galley/store/intake/upsert-pull-request"

/** A pull request as the store keeps it. @param repositoryUrl web address of its repository, without a slash at the end */
export function pullRequestSnapshot(pull: PullRequest, repositoryUrl: string): PullRequestSnapshot {
  return {
    number: pull.number,
    title: pull.title,
    description: pull.body,
    author: pull.author,
    baseRef: pull.baseRef,
    baseSha: pull.baseSha,
    headRef: pull.headRef,
    headSha: pull.headSha,
    webUrl: `${repositoryUrl}/pull/${pull.number}`,
    draft: pull.draft,
    open: pull.open,
    updatedAt: new Date(pull.updatedAt),
  }
}
