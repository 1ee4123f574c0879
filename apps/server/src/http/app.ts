import { Hono } from "hono"
import type { ServerContext } from "../context.ts"
import { webhookRoute } from "../intake/webhook-route.ts"
import type { LiveRuns } from "../pages/live/live-runs.ts"
import { pageRoutes } from "../pages/page-routes.ts"
import type { LeaseDesk } from "../runner-api/lease-desk.ts"
import { runnerRoutes } from "../runner-api/routes.ts"
import { errorAnswer } from "./error-answer.ts"
import { healthRoutes } from "./health-routes.ts"
import { reviewHealthRoute } from "./review-health-route.ts"

export type AppParts = Readonly<{
  context: ServerContext
  desk: LeaseDesk
  liveRuns: LiveRuns
  /** Throws when the database does not answer or its schema does not fit. */
  checkReady: () => Promise<void>
}>

/** All routes of the server: webhooks, runner protocol, health, pages. Pages answer their own errors, everything else is answered here. */
export function createApp({ context, desk, liveRuns, checkReady }: AppParts): Hono {
  const app = new Hono()
  app.onError((error, c) => {
    const { status, headers, body } = errorAnswer(error)
    if (status >= 500) context.log.error({ err: error, path: c.req.path }, "request failed")
    return c.json(body, status, headers)
  })
  app.notFound((c) => c.json({ error: { code: "not_found", message: "there is no such address" } }, 404))
  app.route("/", healthRoutes(checkReady))
  app.route("/", reviewHealthRoute(context))
  app.route("/", webhookRoute(context))
  app.route("/", runnerRoutes(context, desk))
  app.route("/", pageRoutes({ context, liveRuns }))
  return app
}
