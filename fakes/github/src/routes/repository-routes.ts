import { Hono } from "hono"
import { isMember, openRepository } from "../access.ts"
import { mirrorOf } from "../actions/repositories.ts"
import type { Context, Env } from "../context.ts"
import { languageBytes } from "../git/language-bytes.ts"
import { resolveCommit } from "../git/mirror.ts"
import { notFound } from "../rest-error.ts"
import { accountOf } from "../state.ts"
import { accountView } from "../views/account-view.ts"
import { fullRepositoryView } from "../views/repository-view.ts"

/** A repository, its languages and the role of a person in it. */
export function repositoryRoutes({ state }: Context): Hono<Env> {
  const routes = new Hono<Env>()
  routes.get("/repos/:owner/:repo", (c) => {
    const repository = openRepository(state, c.get("credential"), `${c.req.param("owner")}/${c.req.param("repo")}`, [["metadata", "read"]])
    return c.json(fullRepositoryView(repository, c.get("links"), "read"))
  })
  routes.get("/repos/:owner/:repo/languages", async (c) => {
    const repository = openRepository(state, c.get("credential"), `${c.req.param("owner")}/${c.req.param("repo")}`, [["metadata", "read"]])
    const head = await resolveCommit(mirrorOf(repository), repository.defaultBranch)
    return c.json(head ? await languageBytes(mirrorOf(repository), head) : {})
  })
  routes.get("/repos/:owner/:repo/collaborators/:username/permission", (c) => {
    const repository = openRepository(state, c.get("credential"), `${c.req.param("owner")}/${c.req.param("repo")}`, [["metadata", "read"]])
    const account = state.accounts.get(c.req.param("username").toLowerCase())
    if (!account) throw notFound()
    const login = account.login.toLowerCase()
    const role = repository.owner.login.toLowerCase() === login ? "admin" : (repository.collaborators.get(login) ?? "none")
    const permission = role === "none" && !repository.private ? "read" : role
    const user = accountView(accountOf(state, account.login), c.get("links"))
    return c.json({ permission, role_name: permission, user: isMember(repository, login) ? { ...user, role_name: permission } : null })
  })
  return routes
}
