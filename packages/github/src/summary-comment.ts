import { z } from "zod"
import type { GitHubCall } from "./github-app.ts"
import type { PullRequestAddress } from "./pull-request.ts"
import { PAGE_SIZE, readPages } from "./read-pages.ts"

const CommentAnswer = z.object({ id: z.int(), body: z.string().nullish(), user: z.object({ login: z.string() }).nullable() })
const CommentsAnswer = z.array(CommentAnswer)

export type IssueComment = Readonly<{ id: number; body: string; author: string }>

/** 30,000 comments; GitHub itself closes a conversation long before. */
const MAX_PAGES = 300

const commentOf = (raw: z.infer<typeof CommentAnswer>): IssueComment => ({
  id: raw.id,
  body: raw.body ?? "",
  author: raw.user?.login ?? "",
})
const repositoryOf = (at: PullRequestAddress) => ({ owner: at.owner, repo: at.repository })
const sameLogin = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()

/** One comment by id, or null when it is gone. @throws codes of `githubFault`: a failed read is an error, not "none" */
export async function readComment(call: GitHubCall, at: PullRequestAddress, commentId: number): Promise<IssueComment | null> {
  try {
    const { data } = await call("read", "GET /repos/{owner}/{repo}/issues/comments/{comment_id}", {
      ...repositoryOf(at),
      comment_id: commentId,
    })
    return commentOf(CommentAnswer.parse(data))
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "not_found") return null
    throw error
  }
}

/**
 * Every comment of the pull request that the bot wrote and `isSummary` accepts, over all pages, oldest first. The author is checked and not
 * only the marker, because anybody can post a comment with our marker.
 */
export async function findSummaryComments(
  call: GitHubCall,
  at: PullRequestAddress,
  botLogin: string,
  isSummary: (body: string) => boolean,
): Promise<IssueComment[]> {
  const found: IssueComment[] = []
  const pages = readPages(MAX_PAGES, async (page) => {
    const { data } = await call("read", "GET /repos/{owner}/{repo}/issues/{issue_number}/comments", {
      ...repositoryOf(at),
      issue_number: at.number,
      per_page: PAGE_SIZE,
      page,
    })
    return CommentsAnswer.parse(data).map(commentOf)
  })
  for await (const comments of pages) {
    found.push(...comments.filter((comment) => sameLogin(comment.author, botLogin) && isSummary(comment.body)))
  }
  return found
}

/** Creates the comment and returns its id. @throws `publish_forbidden`, `publish_gone`, `publish_locked`, `github_rate_limited`, ... */
export async function createComment(call: GitHubCall, at: PullRequestAddress, body: string): Promise<number> {
  const { data } = await call("write", "POST /repos/{owner}/{repo}/issues/{issue_number}/comments", {
    ...repositoryOf(at),
    issue_number: at.number,
    body,
  })
  return CommentAnswer.parse(data).id
}

/** Replaces the body of a comment. @throws `publish_gone` when somebody deleted it */
export async function updateComment(call: GitHubCall, at: PullRequestAddress, commentId: number, body: string): Promise<void> {
  await call("write", "PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}", { ...repositoryOf(at), comment_id: commentId, body })
}

/** Removes a duplicate of ours. @throws `publish_gone` when it is gone already */
export async function deleteComment(call: GitHubCall, at: PullRequestAddress, commentId: number): Promise<void> {
  await call("write", "DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}", { ...repositoryOf(at), comment_id: commentId })
}

/** Acknowledges a command. Repeating it is harmless: GitHub keeps one reaction per user and kind. */
export async function reactToComment(
  call: GitHubCall,
  at: PullRequestAddress,
  commentId: number,
  content: "eyes" | "confused",
): Promise<void> {
  await call("write", "POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions", {
    ...repositoryOf(at),
    comment_id: commentId,
    content,
  })
}
