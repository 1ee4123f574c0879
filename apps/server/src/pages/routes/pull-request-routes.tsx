import { getProject } from "@galley/store/projects/get-project"
import { requestReview } from "@galley/store/projects/request-review"
import { findPullRequest } from "@galley/store/pull-requests/find-pull-request"
import { cancelJob } from "@galley/store/queue/cancel-job"
import { listRunners } from "@galley/store/runners/list-runners"
import { listRuns } from "@galley/store/runs/list-runs"
import { whyNoReview } from "@galley/store/runs/why-no-review"
import { Hono } from "hono"
import { requireRole, requireUser } from "../access/require-access.ts"
import type { PageEnv, PageParts } from "../page-env.ts"
import { readId, readNumber, wantsJson } from "../request-values.ts"
import { page } from "../views/layout.tsx"
import { PullRequestPage } from "../views/pull-request-page.tsx"

/** One pull request: what happened to it and why, Review now, and Cancel. */
export function pullRequestRoutes({ context: { store } }: PageParts): Hono<PageEnv> {
  const app = new Hono<PageEnv>()

  /** The look-up form's address. */
  app.get("/w/:slug/projects/:id/pulls", (c) => {
    const number = readNumber(c.req.query("number")?.trim() ?? "")
    return c.redirect(`/w/${c.get("workspace").slug}/projects/${readId(c.req.param("id"))}/pulls/${number}`, 303)
  })

  app.get("/w/:slug/projects/:id/pulls/:number", async (c) => {
    const { id: workspaceId } = c.get("workspace")
    const project = await getProject(store, workspaceId, readId(c.req.param("id")))
    const number = readNumber(c.req.param("number"))
    const [pullRequest, history, runners] = await Promise.all([
      findPullRequest(store, workspaceId, project.id, number),
      whyNoReview(store, workspaceId, project.id, number),
      listRunners(store, workspaceId),
    ])
    const runs = pullRequest === null ? [] : await listRuns(store, workspaceId, { pullRequestId: pullRequest.id })
    return c.html(page(<PullRequestPage c={c} {...{ project, number, pullRequest, history, runs, runners }} />))
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

  app.post("/w/:slug/projects/:id/pulls/:number/jobs/:job/cancel", async (c) => {
    requireRole(c, "member")
    const { id: workspaceId, slug } = c.get("workspace")
    const [projectId, number] = [readId(c.req.param("id")), readNumber(c.req.param("number"))]
    await cancelJob(store, workspaceId, readId(c.req.param("job")), requireUser(c).login)
    return c.redirect(`/w/${slug}/projects/${projectId}/pulls/${number}?done=cancelled`, 303)
  })
  return app
}
