import { z } from "zod"
import type { Context } from "../context.ts"
import { emitIssueComment } from "../payloads/issue-comment-payload.ts"
import { notFound, RestError, unprocessable } from "../rest-error.ts"
import { type Account, accountOf, type Comment, nextId, type PullRequest, timestamp } from "../state.ts"
import { associationOf, existingPullRequest } from "./pull-requests.ts"

/** GitHub's bound of a comment, in characters. */
export const MAX_COMMENT_CHARACTERS = 65_536

export const WriteComment = z.strictObject({
  repo: z.string(),
  number: z.int().positive(),
  body: z.string(),
  /** Login; `name[bot]` makes a bot. */
  author: z.string().default("octocat"),
  /** Left out: OWNER, COLLABORATOR or NONE, as the repository knows the author. */
  authorAssociation: z.string().optional(),
})
export type WriteComment = z.input<typeof WriteComment>

/** A person comments; sends `issue_comment.created`. */
export async function writeComment(context: Context, input: WriteComment): Promise<Comment> {
  const { author: login, authorAssociation, body, ...name } = WriteComment.parse(input)
  const pullRequest = existingPullRequest(context, name)
  const author = accountOf(context.state, login, login.endsWith("[bot]") ? "Bot" : "User")
  const comment = createComment(context, pullRequest, author, body, false)
  comment.authorAssociation = authorAssociation ?? comment.authorAssociation
  await emitIssueComment(context, "created", comment, author)
  return comment
}

/** Keeps a new comment without sending a webhook. Throws RestError 403 for a locked conversation, 422 for a bad body. */
export function createComment(context: Context, pullRequest: PullRequest, author: Account, body: string, byApp: boolean): Comment {
  if (pullRequest.locked && byApp) throw new RestError(403, "Unable to create comment because issue is locked.")
  checkBody(body)
  const now = timestamp(context.now())
  const comment: Comment = {
    id: nextId(context.state),
    pullRequest,
    author,
    authorAssociation: associationOf(pullRequest.repository, author.login),
    byApp,
    body,
    reactions: [],
    createdAt: now,
    updatedAt: now,
  }
  context.state.comments.set(comment.id, comment)
  return comment
}

/** Changes a comment's text without sending a webhook; returns the text before. Throws RestError 422 for a bad body. */
export function changeComment(context: Context, comment: Comment, body: string): string {
  checkBody(body)
  const before = comment.body
  comment.body = body
  comment.updatedAt = timestamp(context.now())
  return before
}

/** A person with write access changes a comment, whoever wrote it; sends `issue_comment.edited`. */
export async function editComment(context: Context, id: number, body: string, editor: string): Promise<Comment> {
  const comment = existingComment(context, id)
  const from = changeComment(context, comment, body)
  await emitIssueComment(context, "edited", comment, accountOf(context.state, editor), { changes: { body: { from } } })
  return comment
}

/** A person removes a comment, whoever wrote it; sends `issue_comment.deleted`. */
export async function deleteComment(context: Context, id: number, remover: string): Promise<void> {
  const comment = existingComment(context, id)
  context.state.comments.delete(id)
  await emitIssueComment(context, "deleted", comment, accountOf(context.state, remover))
}

function existingComment(context: Context, id: number): Comment {
  const comment = context.state.comments.get(id)
  if (!comment) throw notFound()
  return comment
}

function checkBody(body: string): void {
  const problem = { resource: "IssueComment", field: "body" }
  if (body.trim() === "") throw unprocessable("Validation Failed", [{ ...problem, code: "missing_field", message: "Body cannot be blank" }])
  if ([...body].length > MAX_COMMENT_CHARACTERS) {
    const message = `Body is too long (maximum is ${MAX_COMMENT_CHARACTERS} characters)`
    throw unprocessable("Validation Failed", [{ ...problem, code: "custom", message }])
  }
}
