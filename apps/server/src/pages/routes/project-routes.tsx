import { getProject } from "@galley/store/projects/get-project"
import { listProjectActivity } from "@galley/store/projects/list-project-activity"
import { listProjects } from "@galley/store/projects/list-projects"
import { listPullRequests } from "@galley/store/pull-requests/list-pull-requests"
import { listRunners } from "@galley/store/runners/list-runners"
import { listRuns } from "@galley/store/runs/list-runs"
import { Hono } from "hono"
import type { PageEnv, PageParts } from "../page-env.ts"
import { readId, wantsJson } from "../request-values.ts"
import { page } from "../views/layout.tsx"
import { ProjectPage } from "../views/project-page.tsx"
import { ProjectsPage } from "../views/projects-page.tsx"
import { projectShape, pullRequestShape, runShape } from "../write-shapes.ts"

/** Runs shown on a project's page. */
const RECENT_RUNS = 15

/** The projects of a workspace, and one of them. */
export function projectRoutes({ context: { store } }: PageParts): Hono<PageEnv> {
  const app = new Hono<PageEnv>()

  app.get("/w/:slug", (c) => c.redirect(`/w/${c.get("workspace").slug}/projects`, 303))

  app.get("/w/:slug/projects", async (c) => {
    const { id: workspaceId } = c.get("workspace")
    const projects = (await listProjects(store, workspaceId)).filter(({ removedAt }) => removedAt === null)
    if (wantsJson(c)) return c.json({ projects: projects.map(projectShape) })
    const activity = new Map((await listProjectActivity(store, workspaceId)).map((one) => [one.projectId, one]))
    return c.html(page(<ProjectsPage c={c} projects={projects} activity={activity} />))
  })

  app.get("/w/:slug/projects/:id", async (c) => {
    const { id: workspaceId } = c.get("workspace")
    const project = await getProject(store, workspaceId, readId(c.req.param("id")))
    const [pullRequests, runs, runners] = await Promise.all([
      listPullRequests(store, workspaceId, project.id),
      listRuns(store, workspaceId, { projectId: project.id, limit: RECENT_RUNS }),
      listRunners(store, workspaceId),
    ])
    if (wantsJson(c)) {
      return c.json({ project: projectShape(project), pullRequests: pullRequests.map(pullRequestShape), runs: runs.map(runShape) })
    }
    return c.html(page(<ProjectPage c={c} project={project} pullRequests={pullRequests} runs={runs} runners={runners} />))
  })
  return app
}
