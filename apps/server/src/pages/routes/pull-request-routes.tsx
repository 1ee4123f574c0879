import { getProject } from "@galley/store/projects/get-project"
import { requestReview } from "@galley/store/projects/request-review"
import { getPullRequest } from "@galley/store/pull-requests/get-pull-request"
import { listRunners } from "@galley/store/runners/list-runners"
import { listRuns } from "@galley/store/runs/list-runs"
import { whyNoReview } from "@galley/store/runs/why-no-review"
import { Hono } from "hono"
import { requireRole, requireUser } from "../access/require-access.ts"
import type { PageEnv, PageParts } from "../page-env.ts"
import { readId, readNumber, wantsJson } from "../request-values.ts"
import { page } from "../views/layout.tsx"
import { PullRequestPage } from "../views/pull-request-page.tsx"

/** One pull request: what happened to it and why, and Review now. */
export function pullRequestRoutes({ context: { store } }: PageParts): Hono<PageEnv> {
  const app = new Hono<PageEnv>()

  app.get("/w/:slug/projects/:id/pulls/:number", async (c) => {
    const { id: workspaceId } = c.get("workspace")
    const project = await getProject(store, workspaceId, readId(c.req.param("id")))
    const pullRequest = await getPullRequest(store, workspaceId, project.id, readNumber(c.req.param("number")))
    const [history, runs, runners] = await Promise.all([
      whyNoReview(store, workspaceId, project.id, pullRequest.number),
      listRuns(store, workspaceId, { pullRequestId: pullRequest.id }),
      listRunners(store, workspaceId),
    ])
    return c.html(page(<PullRequestPage c={c} {...{ project, pullRequest, history, runs, runners }} />))
  })

  app.post("/w/:slug/projects/:id/pulls/:number/review", async (c) => {
    requireRole(c, "member")
    const { id: workspaceId, slug } = c.get("workspace")
    const [projectId, number] = [readId(c.req.param("id")), readNumber(c.req.param("number"))]
    const request = { workspaceId, projectId, pullRequestNumber: number, actor: requireUser(c).login }
    const { jobId } = await requestReview(store, request)
    if (wantsJson(c)) return c.json({ jobId }, 202)
    return c.redirect(`/w/${slug}/projects/${projectId}/pulls/${number}?done=queued`, 303)
  })
  return app
}
