import { isGalleyComment } from "@galley/findings/comment-state"
import type { GitHubCall } from "@galley/github/github-app"
import type { PullRequestAddress } from "@galley/github/pull-request"
import { findSummaryComments, type IssueComment, readComment } from "@galley/github/summary-comment"

/** Which comment of a pull request is Galley's. `duplicates` are older ones of ours, seen only when all comments had to be read. */
export type Summary = Readonly<{ current: IssueComment | null; duplicates: readonly IssueComment[] }>

/**
 * The bot's summary comment: by its stored id first, else the newest by author and marker over all pages.
 *
 * @throws codes of `githubFault`: a failed read is an error, not "none"
 */
export async function findSummary(call: GitHubCall, at: PullRequestAddress, botLogin: string, commentId: number | null): Promise<Summary> {
  const stored = commentId === null ? null : await readComment(call, at, commentId)
  if (stored !== null && stored.author.toLowerCase() === botLogin.toLowerCase()) return { current: stored, duplicates: [] }
  const found = await findSummaryComments(call, at, botLogin, isGalleyComment)
  return { current: found.at(-1) ?? null, duplicates: found.slice(0, -1) }
}
