import { Hono } from "hono"
import { html } from "hono/html"
import type { Context, Env } from "../context.ts"
import { fullNameOf } from "../state.ts"
import { commentsOf } from "../views/comment-view.ts"

/** The page of a pull request: enough to read its comments. Anyone on this machine may look. */
export function pageRoutes(context: Context): Hono<Env> {
  const routes = new Hono<Env>()
  routes.get("/:owner/:repo/pull/:number", (c) => {
    const fullName = `${c.req.param("owner")}/${c.req.param("repo")}`.toLowerCase()
    const repository = [...context.state.repositories.values()].find((one) => fullNameOf(one).toLowerCase() === fullName)
    const pullRequest = repository?.pullRequests.get(Number(c.req.param("number")))
    if (!pullRequest) return c.notFound()
    const comments = commentsOf(context.state, pullRequest).map(
      (comment) => html`<article id="issuecomment-${comment.id}">
        <h2>${comment.author.login}</h2>
        <pre style="white-space: pre-wrap">${comment.body}</pre>
      </article>`,
    )
    const title = `${pullRequest.title} #${pullRequest.number}`
    return c.html(html`<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title></head><body>
      <main><h1>${title}</h1><p>${pullRequest.state}, ${pullRequest.head.ref} into ${pullRequest.base.ref}</p>
      <pre style="white-space: pre-wrap">${pullRequest.body ?? ""}</pre>${comments}</main></body></html>`)
  })
  return routes
}
