import type { PullRequest } from "@galley/github/pull-request"
import type { PullRequestSnapshot } from "@galley/store/intake/upsert-pull-request"

/** PostgreSQL stores neither NUL nor half a surrogate pair; a delivery must not fail for ever because of one. */
const storable = (text: string) => text.replaceAll("\0", "").toWellFormed()

/** A pull request as the store keeps it. @param repositoryUrl web address of its repository, without a slash at the end */
export function pullRequestSnapshot(pull: PullRequest, repositoryUrl: string): PullRequestSnapshot {
  return {
    number: pull.number,
    title: storable(pull.title),
    description: storable(pull.body),
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
