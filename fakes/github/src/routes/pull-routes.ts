import { Hono, type Context as HonoContext } from "hono"
import { type Need, openRepository } from "../access.ts"
import { changeBetween } from "../actions/pull-requests.ts"
import { mirrorOf } from "../actions/repositories.ts"
import type { Context, Env } from "../context.ts"
import { readCommits } from "../git/read-commits.ts"
import { paginate } from "../paginate.ts"
import { notFound } from "../rest-error.ts"
import type { PullRequest } from "../state.ts"
import { changedFileView, commitView } from "../views/commit-view.ts"
import { issueView } from "../views/issue-view.ts"
import { pullRequestSimpleView, pullRequestView } from "../views/pull-request-view.ts"
import { repositoryUrl } from "../views/repository-view.ts"

/** GitHub lists no more files and commits than this. */
const MAX_FILES = 3000
const MAX_COMMITS = 250

const readPulls: readonly Need[] = [["pull_requests", "read"]]
const readIssues: readonly Need[] = [
  ["issues", "read"],
  ["pull_requests", "read"],
]

/** Pull requests: lists, one, its files and commits. Reviews, review comments and labels are always empty. */
export function pullRoutes(context: Context): Hono<Env> {
  const { state } = context
  const routes = new Hono<Env>()
  const open = (c: HonoContext<Env>, number: string, needs: readonly Need[]): PullRequest => openPull(context, c, number, needs)

  routes.get("/repos/:owner/:repo/pulls", (c) => {
    const links = c.get("links")
    const repository = openRepository(state, c.get("credential"), `${c.req.param("owner")}/${c.req.param("repo")}`, readPulls)
    const { state: wanted = "open", base, head, direction = "desc" } = c.req.query()
    const found = [...repository.pullRequests.values()]
      .filter((one) => wanted === "all" || one.state === wanted)
      .filter((one) => base === undefined || one.base.ref === base)
      .filter((one) => head === undefined || `${one.head.repository.owner.login}:${one.head.ref}` === head)
      .sort((a, b) => (direction === "asc" ? a.number - b.number : b.number - a.number))
    const page = paginate(found, c, `${repositoryUrl(repository, links)}/pulls`)
    return c.json(
      page.items.map((one) => pullRequestSimpleView(one, links)),
      200,
      page.headers,
    )
  })
  routes.get("/repos/:owner/:repo/pulls/:number", (c) =>
    c.json(pullRequestView(state, open(c, c.req.param("number"), readPulls), c.get("links"))),
  )
  routes.get("/repos/:owner/:repo/issues/:number{[0-9]+}", (c) =>
    c.json(issueView(state, open(c, c.req.param("number"), readIssues), c.get("links"))),
  )
  routes.get("/repos/:owner/:repo/pulls/:number/files", async (c) => {
    const { repository, base, head, number } = open(c, c.req.param("number"), readPulls)
    const links = c.get("links")
    const { files } = await changeBetween(repository, base.sha, head.sha)
    const page = paginate(files.slice(0, MAX_FILES), c, `${repositoryUrl(repository, links)}/pulls/${number}/files`)
    return c.json(
      page.items.map((file) => changedFileView(file, head.sha, repository, links)),
      200,
      page.headers,
    )
  })
  routes.get("/repos/:owner/:repo/pulls/:number/commits", async (c) => {
    const { repository, base, head, number } = open(c, c.req.param("number"), readPulls)
    const links = c.get("links")
    const commits = await readCommits(mirrorOf(repository), `${base.sha}..${head.sha}`)
    const page = paginate(commits.slice(0, MAX_COMMITS), c, `${repositoryUrl(repository, links)}/pulls/${number}/commits`)
    return c.json(
      page.items.map((commit) => commitView(commit, repository, links)),
      200,
      page.headers,
    )
  })
  for (const list of ["comments", "reviews"]) {
    routes.get(`/repos/:owner/:repo/pulls/:number/${list}`, (c) => {
      open(c, c.req.param("number") ?? "", readPulls)
      return c.json([])
    })
  }
  routes.get("/repos/:owner/:repo/issues/:number/labels", (c) => {
    open(c, c.req.param("number"), readIssues)
    return c.json([])
  })
  return routes
}

/** The pull request a request's address names, when the caller may do what `needs` says. Throws RestError 403 or 404. */
export function openPull({ state }: Context, c: HonoContext<Env>, number: string, needs: readonly Need[]): PullRequest {
  const repository = openRepository(state, c.get("credential"), `${c.req.param("owner")}/${c.req.param("repo")}`, needs)
  const pullRequest = repository.pullRequests.get(Number(number))
  if (!pullRequest) throw notFound()
  return pullRequest
}
