import { Hono } from "hono"
import { type Need, openRepository } from "../access.ts"
import { changeBetween } from "../actions/pull-requests.ts"
import { mirrorOf } from "../actions/repositories.ts"
import type { Context, Env } from "../context.ts"
import { resolveCommit } from "../git/mirror.ts"
import { readMergeBase } from "../git/read-change.ts"
import { countApart, readCommit, readCommits } from "../git/read-commits.ts"
import { readTree, resolveTree } from "../git/read-tree.ts"
import { paginate } from "../paginate.ts"
import { notFound, RestError, unprocessable } from "../rest-error.ts"
import type { Repository } from "../state.ts"
import { changedFileView, commitView } from "../views/commit-view.ts"
import { contentView } from "../views/content-view.ts"
import { repositoryPage, repositoryUrl } from "../views/repository-view.ts"

/** GitHub compares no more files than this. */
const MAX_COMPARED_FILES = 300

const readContents: readonly Need[] = [["contents", "read"]]

/** What lies in git: files, commits, trees, branches and comparisons. */
export function contentRoutes({ state }: Context): Hono<Env> {
  const routes = new Hono<Env>()

  routes.get("/repos/:owner/:repo/contents/:path{.*}", async (c) => {
    const repository = openRepository(state, c.get("credential"), `${c.req.param("owner")}/${c.req.param("repo")}`, readContents)
    const ref = c.req.query("ref") ?? repository.defaultBranch
    const commit = await resolveCommit(mirrorOf(repository), ref)
    if (!commit) throw new RestError(404, `No commit found for the ref ${ref}`)
    const content = await contentView(repository, commit, ref, c.req.param("path").replace(/\/+$/, ""), c.get("links"))
    if (!content) throw notFound()
    return c.json(content)
  })
  routes.get("/repos/:owner/:repo/compare/:basehead{.+}", async (c) => {
    const repository = openRepository(state, c.get("credential"), `${c.req.param("owner")}/${c.req.param("repo")}`, readContents)
    const links = c.get("links")
    const mirror = mirrorOf(repository)
    const [from = "", to = ""] = c.req.param("basehead").split("...")
    const [base, head] = await Promise.all([from, to].map((ref) => resolveCommit(mirror, ref.replace(/^[^:]*:/, ""))))
    if (!base || !head) throw notFound()
    const mergeBase = await readMergeBase(mirror, base, head)
    if (!mergeBase) throw new RestError(404, `No common ancestor between ${from} and ${to}.`)
    const [{ ahead, behind }, commits, change] = await Promise.all([
      countApart(mirror, base, head),
      readCommits(mirror, `${base}..${head}`),
      changeBetween(repository, base, head),
    ])
    const url = `${repositoryUrl(repository, links)}/compare/${from}...${to}`
    const page = `${repositoryPage(repository, links)}/compare/${from}...${to}`
    const shown = paginate(commits, c, url)
    return c.json(
      {
        url,
        html_url: page,
        permalink_url: `${repositoryPage(repository, links)}/compare/${base}...${head}`,
        diff_url: `${page}.diff`,
        patch_url: `${page}.patch`,
        base_commit: commitView(await readCommit(mirror, base), repository, links),
        merge_base_commit: commitView(await readCommit(mirror, mergeBase), repository, links),
        status: comparisonStatus(ahead, behind),
        ahead_by: ahead,
        behind_by: behind,
        total_commits: commits.length,
        commits: shown.items.map((commit) => commitView(commit, repository, links)),
        files: change.files.slice(0, MAX_COMPARED_FILES).map((file) => changedFileView(file, head, repository, links)),
      },
      200,
      shown.headers,
    )
  })
  routes.get("/repos/:owner/:repo/commits/:ref{.+}", async (c) => {
    const repository = openRepository(state, c.get("credential"), `${c.req.param("owner")}/${c.req.param("repo")}`, readContents)
    const sha = await resolveCommit(mirrorOf(repository), c.req.param("ref"))
    if (!sha) throw unprocessable(`No commit found for SHA: ${c.req.param("ref")}`)
    return c.json(await commitWithFiles(repository, sha, c.get("links")))
  })
  routes.get("/repos/:owner/:repo/branches/:branch{.+}", async (c) => {
    const repository = openRepository(state, c.get("credential"), `${c.req.param("owner")}/${c.req.param("repo")}`, readContents)
    const links = c.get("links")
    const name = c.req.param("branch")
    const sha = await resolveCommit(mirrorOf(repository), `refs/heads/${name}`)
    if (!sha) throw new RestError(404, "Branch not found")
    const self = `${repositoryUrl(repository, links)}/branches/${name}`
    return c.json({
      name,
      commit: commitView(await readCommit(mirrorOf(repository), sha), repository, links),
      _links: { self, html: `${repositoryPage(repository, links)}/tree/${name}` },
      protected: false,
      protection: { enabled: false, required_status_checks: { enforcement_level: "off", contexts: [], checks: [] } },
      protection_url: `${self}/protection`,
    })
  })
  routes.get("/repos/:owner/:repo/git/trees/:sha", async (c) => {
    const repository = openRepository(state, c.get("credential"), `${c.req.param("owner")}/${c.req.param("repo")}`, readContents)
    const url = `${repositoryUrl(repository, c.get("links"))}/git`
    const mirror = mirrorOf(repository)
    const wanted = c.req.param("sha")
    const sha = (await resolveTree(mirror, wanted)) ?? (await resolveCommit(mirror, wanted))
    if (!sha) throw notFound()
    const tree = await readTree(mirror, sha, "", c.req.query("recursive") !== undefined)
    const entries = tree.map(({ size, ...entry }) => ({
      ...entry,
      ...(size !== null && { size }),
      url: `${url}/${entry.type}s/${entry.sha}`,
    }))
    return c.json({ sha, url: `${url}/trees/${sha}`, tree: entries, truncated: false })
  })
  return routes
}

/** A commit with what it changes against its first parent; a root commit lists no files. */
async function commitWithFiles(repository: Repository, sha: string, links: Env["Variables"]["links"]) {
  const commit = await readCommit(mirrorOf(repository), sha)
  const [parent] = commit.parents
  const change = parent ? await changeBetween(repository, parent, sha) : { files: [], additions: 0, deletions: 0 }
  return {
    ...commitView(commit, repository, links),
    stats: { additions: change.additions, deletions: change.deletions, total: change.additions + change.deletions },
    files: change.files.slice(0, MAX_COMPARED_FILES).map((file) => changedFileView(file, sha, repository, links)),
  }
}

function comparisonStatus(ahead: number, behind: number): string {
  if (ahead > 0 && behind > 0) return "diverged"
  if (ahead > 0) return "ahead"
  return behind > 0 ? "behind" : "identical"
}
