import { listProjects } from "@galley/store/projects/list-projects"
import { findRunWorkspace } from "@galley/store/runs/find-run-workspace"
import { getRun } from "@galley/store/runs/get-run"
import { listRuns } from "@galley/store/runs/list-runs"
import { Hono } from "hono"
import { requireUser } from "../access/require-access.ts"
import { streamRun } from "../live/stream-run.tsx"
import type { PageEnv, PageParts } from "../page-env.ts"
import { readId, wantsJson } from "../request-values.ts"
import { page } from "../views/layout.tsx"
import { RunPage } from "../views/run-page.tsx"
import { RunsPage } from "../views/runs-page.tsx"
import { runAnswer, runShape } from "../write-shapes.ts"

/** The runs of a workspace, one of them, and its changes as they happen. */
export function runRoutes(parts: PageParts): Hono<PageEnv> {
  const { store } = parts.context
  const app = new Hono<PageEnv>()

  app.get("/w/:slug/runs", async (c) => {
    const { id: workspaceId } = c.get("workspace")
    const wanted = c.req.query("project")
    const projectId = wanted === undefined || wanted === "" ? null : readId(wanted)
    const runs = await listRuns(store, workspaceId, projectId === null ? {} : { projectId })
    if (wantsJson(c)) return c.json({ runs: runs.map(runShape) })
    return c.html(page(<RunsPage c={c} runs={runs} projects={await listProjects(store, workspaceId)} projectId={projectId} />))
  })

  app.get("/w/:slug/runs/:id", async (c) => {
    const detail = await getRun(store, c.get("workspace").id, readId(c.req.param("id")))
    return wantsJson(c) ? c.json(runAnswer(detail)) : c.html(page(<RunPage c={c} detail={detail} />))
  })

  app.get("/w/:slug/runs/:id/events", (c) => streamRun(parts, c, readId(c.req.param("id"))))

  app.get("/runs/:id", async (c) => {
    const runId = readId(c.req.param("id"))
    const slug = await findRunWorkspace(store, requireUser(c).userId, runId)
    return c.redirect(`/w/${slug}/runs/${runId}`, 303)
  })
  return app
}
