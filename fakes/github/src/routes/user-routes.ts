import { Hono } from "hono"
import { isMember } from "../access.ts"
import type { Context, Env } from "../context.ts"
import { paginate } from "../paginate.ts"
import { notFound, RestError } from "../rest-error.ts"
import type { Account, Installation, Repository } from "../state.ts"
import { publicAccountView } from "../views/account-view.ts"
import { installationView } from "../views/installation-view.ts"
import { fullRepositoryView } from "../views/repository-view.ts"

/** What a signed-in person asks: who am I, which installations and repositories may I see. */
export function userRoutes({ state }: Context): Hono<Env> {
  const routes = new Hono<Env>()
  routes.get("/user", (c) => {
    const account = person(c.get("credential"))
    return c.json({ ...publicAccountView(account, c.get("links")), ...privateNumbers })
  })
  routes.get("/user/installations", (c) => {
    const account = person(c.get("credential"))
    const links = c.get("links")
    const seen = [...state.installations.values()].filter((one) => sees(account, one, repositoriesOf(one)))
    const page = paginate(seen, c, `${links.api}/user/installations`)
    const installations = page.items.map((one) => installationView(one, state.app, links))
    return c.json({ total_count: seen.length, installations }, 200, page.headers)
  })
  routes.get("/user/installations/:id/repositories", (c) => {
    const account = person(c.get("credential"))
    const links = c.get("links")
    const installation = state.installations.get(Number(c.req.param("id")))
    if (!installation || !sees(account, installation, repositoriesOf(installation))) throw notFound()
    const seen = repositoriesOf(installation).filter((one) => !one.private || isMember(one, account.login))
    const page = paginate(seen, c, `${links.api}/user/installations/${installation.id}/repositories`)
    const repositories = page.items.map((one) => fullRepositoryView(one, links, roleOf(one, account)))
    return c.json({ total_count: seen.length, repository_selection: "selected", repositories }, 200, page.headers)
  })
  routes.get("/user/memberships/orgs", (c) => {
    person(c.get("credential"))
    return c.json([])
  })
  routes.get("/users/:username", (c) => {
    const account = state.accounts.get(c.req.param("username").toLowerCase())
    if (!account) throw notFound()
    return c.json(publicAccountView(account, c.get("links")))
  })

  const repositoriesOf = (installation: Installation): Repository[] =>
    [...installation.repositoryIds].flatMap((id) => state.repositories.get(id) ?? [])
  return routes
}

const privateNumbers = {
  private_gists: 0,
  total_private_repos: 0,
  owned_private_repos: 0,
  disk_usage: 0,
  collaborators: 0,
  two_factor_authentication: true,
}

/** Throws RestError 401 without a token, 403 for a token that stands for no person. */
function person(credential: Env["Variables"]["credential"]): Account {
  if (credential.kind === "user") return credential.account
  if (credential.kind === "none") throw new RestError(401, "Requires authentication")
  throw new RestError(403, "Resource not accessible by integration")
}

/** A person sees an installation on their own account, or one with a repository they have a role in. */
function sees(account: Account, installation: Installation, repositories: readonly Repository[]): boolean {
  return installation.account.id === account.id || repositories.some((repository) => isMember(repository, account.login))
}

function roleOf(repository: Repository, account: Account) {
  if (repository.owner.id === account.id) return "admin"
  return repository.collaborators.get(account.login.toLowerCase()) ?? "read"
}
