import { GalleyError } from "@galley/contract/errors"
import { listRunners, type RunnerSummary } from "@galley/store/runners/list-runners"
import { registerRunner } from "@galley/store/runners/register-runner"
import { removeRunner } from "@galley/store/runners/remove-runner"
import { revokeOldToken } from "@galley/store/runners/revoke-old-token"
import { rotateRunnerToken } from "@galley/store/runners/rotate-runner-token"
import { setRunnerPaused } from "@galley/store/runners/set-runner-paused"
import { listRuns } from "@galley/store/runs/list-runs"
import { Hono } from "hono"
import { z } from "zod"
import { assertNotOfEnvironment, isOfEnvironment } from "../../runners/environment-runner.ts"
import { HOUR_MS, OverlapHours, PauseNote, RunnerName } from "../../runners/runner-fields.ts"
import { findManaged, findRunner } from "../access/find-runner.ts"
import { requireRole, requireUser } from "../access/require-access.ts"
import type { PageContext, PageEnv, PageParts } from "../page-env.ts"
import { readForm, wantsJson } from "../request-values.ts"
import { page } from "../views/layout.tsx"
import { RunnerPage } from "../views/runner-page.tsx"
import { RunnerTokenPage } from "../views/runner-token-page.tsx"
import { RunnersPage } from "../views/runners-page.tsx"
import { runnerShape } from "../write-shapes.ts"

/** The name as typed: what is wrong with it is said beside its field. */
const RegisterForm = z.object({ name: z.string().default("") })
const RotateForm = z.object({ overlapHours: OverlapHours })
const PauseForm = z.object({ note: PauseNote })
const RemoveForm = z.object({ confirm: z.literal("yes") })
const path = "/w/:slug/runners"

/**
 * The fleet of a workspace. Everybody in it sees the runners that work for it; its admins and owners manage those that are its own. Shared
 * runners work for every workspace, so no workspace's page changes them: the operator does, by the command `runner`.
 */
export function fleetRoutes({ context }: PageParts): Hono<PageEnv> {
  const { store } = context
  const app = new Hono<PageEnv>()

  const ofEnvironment = ({ name, workspaceId }: RunnerSummary) => isOfEnvironment(name, workspaceId === context.workspaceId)
  const showFleet = async (c: PageContext, problem: string | null, name: string) =>
    page(<RunnersPage c={c} runners={await listRunners(store, c.get("workspace").id)} problem={problem} name={name} />)
  const done = (c: PageContext, runner: RunnerSummary, what: string) =>
    c.redirect(`/w/${c.get("workspace").slug}/runners/${runner.id}?done=${what}`, 303)

  app.get(path, async (c) => {
    if (!wantsJson(c)) return c.html(await showFleet(c, null, ""))
    return c.json({ runners: (await listRunners(store, c.get("workspace").id)).map(runnerShape) })
  })

  app.post(path, async (c) => {
    requireRole(c, "admin")
    const { name: typed } = await readForm(c, RegisterForm)
    const name = RunnerName.safeParse(typed)
    if (!name.success) return c.html(await showFleet(c, "Enter a name of 1 to 100 characters on one line.", typed), 422)
    try {
      const made = await registerRunner(store, { workspaceId: c.get("workspace").id, name: name.data, actor: requireUser(c).login })
      return c.html(page(<RunnerTokenPage c={c} id={made.runnerId} name={name.data} token={made.token} overlapHours={null} />))
    } catch (error) {
      if (!(error instanceof GalleyError && error.code === "runner_name_taken")) throw error
      return c.html(await showFleet(c, "A runner of this workspace has this name. Choose another one.", typed), 409)
    }
  })

  app.get(`${path}/:id`, async (c) => {
    const runner = await findRunner(store, c)
    const leases = await listRuns(store, c.get("workspace").id, { heldBy: runner.id })
    return c.html(page(<RunnerPage {...{ c, runner, leases, ofEnvironment: ofEnvironment(runner) }} />))
  })

  app.post(`${path}/:id/rotate`, async (c) => {
    const { runner, change } = await findManaged(store, c)
    assertNotOfEnvironment(ofEnvironment(runner))
    const { overlapHours } = await readForm(c, RotateForm)
    const { token } = await rotateRunnerToken(store, change, overlapHours * HOUR_MS)
    return c.html(page(<RunnerTokenPage c={c} id={runner.id} name={runner.name} token={token} overlapHours={overlapHours} />))
  })

  app.post(`${path}/:id/revoke`, async (c) => {
    const { runner, change } = await findManaged(store, c)
    await revokeOldToken(store, change)
    return done(c, runner, "token-revoked")
  })

  app.post(`${path}/:id/pause`, async (c) => {
    const { runner, change } = await findManaged(store, c)
    await setRunnerPaused(store, change, await readForm(c, PauseForm))
    return done(c, runner, "runner-paused")
  })

  app.post(`${path}/:id/resume`, async (c) => {
    const { runner, change } = await findManaged(store, c)
    await setRunnerPaused(store, change, null)
    return done(c, runner, "runner-resumed")
  })

  app.post(`${path}/:id/remove`, async (c) => {
    const { runner, change } = await findManaged(store, c)
    assertNotOfEnvironment(ofEnvironment(runner))
    await readForm(c, RemoveForm)
    await removeRunner(store, change)
    return c.redirect(`/w/${c.get("workspace").slug}/runners?done=runner-removed`, 303)
  })
  return app
}
