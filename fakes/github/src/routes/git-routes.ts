import { Hono, type Context as HonoContext } from "hono"
import { openRepository } from "../access.ts"
import { mirrorOf } from "../actions/repositories.ts"
import type { Context, Env } from "../context.ts"
import { serveGit } from "../git/serve-git.ts"
import { RestError } from "../rest-error.ts"

/**
 * Git over HTTP, read only: `/<owner>/<repo>.git` (the ending may be left out). As on GitHub a private repository asks
 * for credentials with 401, and answers 404 to a token that does not reach it.
 */
export function gitRoutes({ state }: Context): Hono<Env> {
  const routes = new Hono<Env>()
  const serve = (path: string) => async (c: HonoContext<Env>) => {
    if (c.req.query("service") === "git-receive-pack") throw new RestError(403, "Write access to repository not granted.")
    const credential = c.get("credential")
    const fullName = `${c.req.param("owner")}/${c.req.param("repo")?.replace(/\.git$/, "")}`
    try {
      const repository = openRepository(state, credential, fullName, [["contents", "read"]])
      return await serveGit(c.req.raw, mirrorOf(repository), path)
    } catch (error) {
      if (error instanceof RestError && error.status === 404 && credential.kind === "none") throw askForCredentials()
      throw error
    }
  }
  routes.get("/:owner/:repo/info/refs", serve("/info/refs"))
  routes.post("/:owner/:repo/git-upload-pack", serve("/git-upload-pack"))
  routes.post("/:owner/:repo/git-receive-pack", () => {
    throw new RestError(403, "Write access to repository not granted.")
  })
  return routes
}

/** Git takes this as the request to send what it has, or to give up. */
export function askForCredentials(): RestError {
  return new RestError(401, "Repository not found or credentials missing.", { headers: { "www-authenticate": 'Basic realm="GitHub"' } })
}
