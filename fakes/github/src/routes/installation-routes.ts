import { Hono } from "hono"
import { requireInstallation } from "../access.ts"
import type { Context, Env } from "../context.ts"
import { paginate } from "../paginate.ts"
import { fullRepositoryView } from "../views/repository-view.ts"

/** What an installation token says about itself: the repositories it reaches, and its end. */
export function installationRoutes({ state }: Context): Hono<Env> {
  const routes = new Hono<Env>()
  routes.get("/installation/repositories", (c) => {
    const { repositoryIds, permissions } = requireInstallation(c.get("credential"))
    const links = c.get("links")
    const repositories = [...repositoryIds].flatMap((id) => state.repositories.get(id) ?? [])
    const page = paginate(repositories, c, `${links.api}/installation/repositories`)
    const views = page.items.map((repository) => fullRepositoryView(repository, links, permissions.contents ?? "read"))
    return c.json({ total_count: repositories.length, repository_selection: "selected", repositories: views }, 200, page.headers)
  })
  routes.delete("/installation/token", (c) => {
    state.installationTokens.delete(requireInstallation(c.get("credential")).token)
    return c.body(null, 204)
  })
  return routes
}
