import { randomBytes } from "node:crypto"
import { Hono } from "hono"
import { z } from "zod"
import { openInstallation, requireApp } from "../access.ts"
import { PermissionsInput } from "../actions/installations.ts"
import type { Context, Env } from "../context.ts"
import { paginate } from "../paginate.ts"
import { readJson } from "../read-json.ts"
import { notFound, RestError, unprocessable } from "../rest-error.ts"
import { findRepository, type Installation, type InstallationToken, installationOf, type Permissions, timestamp } from "../state.ts"
import { appView } from "../views/app-view.ts"
import { installationView } from "../views/installation-view.ts"
import { repositoryView } from "../views/repository-view.ts"

/** What the App asks with its own signed token: itself, its installations, tokens for them. */
export function appRoutes({ state, ...context }: Context): Hono<Env> {
  const routes = new Hono<Env>()
  routes.get("/app", (c) => {
    requireApp(c.get("credential"))
    return c.json({ ...appView(state.app, c.get("links")), installations_count: state.installations.size })
  })
  routes.get("/app/installations", (c) => {
    requireApp(c.get("credential"))
    const links = c.get("links")
    const page = paginate([...state.installations.values()], c, `${links.api}/app/installations`)
    return c.json(
      page.items.map((one) => installationView(one, state.app, links)),
      200,
      page.headers,
    )
  })
  routes.get("/app/installations/:id", (c) => {
    requireApp(c.get("credential"))
    return c.json(installationView(openInstallation(state, c.req.param("id")), state.app, c.get("links")))
  })
  routes.get("/repos/:owner/:repo/installation", (c) => {
    requireApp(c.get("credential"))
    const repository = findRepository(state, `${c.req.param("owner")}/${c.req.param("repo")}`)
    const installation = repository && installationOf(state, repository)
    if (!installation) throw notFound()
    return c.json(installationView(installation, state.app, c.get("links")))
  })
  routes.post("/app/installations/:id/access_tokens", async (c) => {
    requireApp(c.get("credential"))
    const installation = openInstallation(state, c.req.param("id"))
    if (installation.suspendedAt) throw new RestError(403, "This installation has been suspended")
    const wanted = await readJson(c, TokenRequest)
    const repositoryIds = narrowRepositories(installation, wanted, (id) => state.repositories.get(id)?.name)
    const permissions = narrowPermissions(installation, wanted.permissions)
    const token = `ghs_${randomBytes(18).toString("hex")}`
    const expiresAtMs = context.now() + context.tokenLifetimeMs
    const issued: InstallationToken = { token, installationId: installation.id, repositoryIds, permissions, expiresAtMs }
    state.installationTokens.set(token, issued)
    const repositories = [...(repositoryIds ?? [])].flatMap((id) => state.repositories.get(id) ?? [])
    return c.json(
      {
        token,
        expires_at: timestamp(expiresAtMs),
        permissions,
        repository_selection: "selected",
        ...(repositoryIds && { repositories: repositories.map((repository) => repositoryView(repository, c.get("links"))) }),
      },
      201,
    )
  })
  return routes
}

const TokenRequest = z.object({
  repositories: z.array(z.string()).optional(),
  repository_ids: z.array(z.int()).optional(),
  permissions: PermissionsInput.optional(),
})

/** The repositories a token is narrowed to; null when the request names none. Throws 422 for any other repository. */
function narrowRepositories(
  installation: Installation,
  wanted: z.infer<typeof TokenRequest>,
  nameOf: (id: number) => string | undefined,
): ReadonlySet<number> | null {
  if (!wanted.repositories && !wanted.repository_ids) return null
  const reached = [...installation.repositoryIds]
  const named = (wanted.repositories ?? []).map((name) => reached.find((id) => nameOf(id)?.toLowerCase() === name.toLowerCase()))
  const ids = [...(wanted.repository_ids ?? []), ...named]
  const inReach = ids.filter((id): id is number => id !== undefined && installation.repositoryIds.has(id))
  if (inReach.length < ids.length) {
    throw unprocessable("There is at least one repository that does not exist or is not accessible to the parent installation.")
  }
  return new Set(inReach)
}

/** The permissions of a token; metadata can always be read. Throws 422 for more than the installation has. */
function narrowPermissions(installation: Installation, wanted: Permissions | undefined): Permissions {
  if (!wanted) return installation.permissions
  const order = ["read", "write", "admin"]
  for (const [name, level] of Object.entries(wanted)) {
    if (order.indexOf(installation.permissions[name] ?? "") < order.indexOf(level)) {
      throw unprocessable("The permissions requested are not granted to this installation.")
    }
  }
  return { ...wanted, metadata: "read" }
}
