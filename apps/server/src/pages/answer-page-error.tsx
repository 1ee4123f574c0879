import { GalleyError } from "@galley/contract/errors"
import { HTTPException } from "hono/http-exception"
import type { ServerContext } from "../context.ts"
import { errorAnswer } from "../http/error-answer.ts"
import type { PageContext } from "./page-env.ts"
import { wantsJson } from "./request-values.ts"
import { ErrorPage } from "./views/error-page.tsx"
import { page } from "./views/layout.tsx"

/** Answers a failed page request: JSON to those who ask for it, the sign-in page to strangers, else a page that says what happened. */
export function answerPageError(context: ServerContext, thrown: Error, c: PageContext): Response | Promise<Response> {
  // The only such exception here is hono's refusal of a form from another site.
  const error =
    thrown instanceof HTTPException ? new GalleyError("forbidden", "the request came from another site", { cause: thrown }) : thrown
  const { status, headers, body } = errorAnswer(error)
  if (status >= 500) context.log.error({ err: thrown, path: c.req.path }, "page request failed")
  if (wantsJson(c)) return c.json(body, status, headers)
  if (body.error.code === "sign_in_required" && c.req.method === "GET") {
    return c.redirect(`/sign-in?next=${encodeURIComponent(c.req.path)}`, 303)
  }
  return c.html(page(<ErrorPage c={c} code={body.error.code} message={body.error.message} />), status, headers)
}
