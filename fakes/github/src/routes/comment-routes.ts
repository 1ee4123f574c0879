import { Hono, type Context as HonoContext } from "hono"
import { z } from "zod"
import { type Need, openRepository } from "../access.ts"
import { changeComment, createComment } from "../actions/comments.ts"
import type { Context, Env } from "../context.ts"
import type { Credential } from "../credential.ts"
import { paginate } from "../paginate.ts"
import { emitIssueComment } from "../payloads/issue-comment-payload.ts"
import { readJson } from "../read-json.ts"
import { notFound, RestError } from "../rest-error.ts"
import { type Account, accountOf, type Comment, nextId, type Reaction, type State, timestamp } from "../state.ts"
import { commentsOf, commentView, reactionContents, reactionView } from "../views/comment-view.ts"
import { repositoryUrl } from "../views/repository-view.ts"
import { openPull } from "./pull-routes.ts"

const readComments: readonly Need[] = [
  ["issues", "read"],
  ["pull_requests", "read"],
]
const writeComments: readonly Need[] = [
  ["issues", "write"],
  ["pull_requests", "write"],
]

const Body = z.object({ body: z.string() })
const ReactionBody = z.object({ content: z.enum(reactionContents) })

/** Comments on pull requests, and reactions to comments and pull requests. Webhooks follow after the answer. */
export function commentRoutes(context: Context): Hono<Env> {
  const { state, outbox } = context
  const routes = new Hono<Env>()

  routes.get("/repos/:owner/:repo/issues/:number/comments", (c) => {
    const pullRequest = openPull(context, c, c.req.param("number"), readComments)
    const links = c.get("links")
    const since = Date.parse(c.req.query("since") ?? "1970-01-01")
    const comments = commentsOf(state, pullRequest).filter((comment) => Date.parse(comment.updatedAt) >= since)
    const page = paginate(comments, c, `${repositoryUrl(pullRequest.repository, links)}/issues/${pullRequest.number}/comments`)
    return c.json(
      page.items.map((comment) => commentView(state, comment, links)),
      200,
      page.headers,
    )
  })
  routes.post("/repos/:owner/:repo/issues/:number/comments", async (c) => {
    const pullRequest = openPull(context, c, c.req.param("number"), writeComments)
    const { body } = await readJson(c, Body)
    const credential = c.get("credential")
    const comment = createComment(context, pullRequest, writerOf(state, credential), body, credential.kind === "installation")
    outbox.later(() => emitIssueComment(context, "created", comment, comment.author))
    return c.json(commentView(state, comment, c.get("links")), 201)
  })
  routes.get("/repos/:owner/:repo/issues/comments/:id", (c) =>
    c.json(commentView(state, openComment(state, c, c.req.param("id"), readComments), c.get("links"))),
  )
  routes.patch("/repos/:owner/:repo/issues/comments/:id", async (c) => {
    const comment = openComment(state, c, c.req.param("id"), writeComments)
    const { body } = await readJson(c, Body)
    const from = changeComment(context, comment, body)
    outbox.later(() => emitIssueComment(context, "edited", comment, writerOf(state, c.get("credential")), { changes: { body: { from } } }))
    return c.json(commentView(state, comment, c.get("links")))
  })
  routes.delete("/repos/:owner/:repo/issues/comments/:id", (c) => {
    const comment = openComment(state, c, c.req.param("id"), writeComments)
    state.comments.delete(comment.id)
    outbox.later(() => emitIssueComment(context, "deleted", comment, writerOf(state, c.get("credential"))))
    return c.body(null, 204)
  })
  routes.post("/repos/:owner/:repo/issues/comments/:id/reactions", async (c) => {
    const comment = openComment(state, c, c.req.param("id"), writeComments)
    const { content } = await readJson(c, ReactionBody)
    const { reaction, fresh } = react(context, comment.reactions, content, writerOf(state, c.get("credential")))
    return c.json(reactionView(reaction, c.get("links")), fresh ? 201 : 200)
  })
  routes.post("/repos/:owner/:repo/issues/:number/reactions", async (c) => {
    const pullRequest = openPull(context, c, c.req.param("number"), writeComments)
    const { content } = await readJson(c, ReactionBody)
    const reactions = state.reactions.get(pullRequest.id) ?? []
    state.reactions.set(pullRequest.id, reactions)
    const { reaction, fresh } = react(context, reactions, content, writerOf(state, c.get("credential")))
    return c.json(reactionView(reaction, c.get("links")), fresh ? 201 : 200)
  })
  return routes
}

function openComment(state: State, c: HonoContext<Env>, id: string, needs: readonly Need[]): Comment {
  const repository = openRepository(state, c.get("credential"), `${c.req.param("owner")}/${c.req.param("repo")}`, needs)
  const comment = state.comments.get(Number(id))
  if (comment?.pullRequest.repository !== repository) throw notFound()
  return comment
}

/** The account a caller writes as: a person, or the App's bot. */
function writerOf(state: State, credential: Credential): Account {
  if (credential.kind === "user") return credential.account
  if (credential.kind === "installation") return accountOf(state, `${state.app.slug}[bot]`, "Bot")
  throw new RestError(401, "Requires authentication")
}

/** A person reacts once with each content; again gives the same reaction. */
function react(context: Context, reactions: Reaction[], content: string, user: Account): { reaction: Reaction; fresh: boolean } {
  const known = reactions.find((one) => one.content === content && one.user.id === user.id)
  if (known) return { reaction: known, fresh: false }
  const reaction = { id: nextId(context.state), content, user, createdAt: timestamp(context.now()) }
  reactions.push(reaction)
  return { reaction, fresh: true }
}
