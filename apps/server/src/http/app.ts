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

export type AppParts = Readonly<{ context: ServerContext; desk: LeaseDesk; liveRuns: LiveRuns }>

/** All routes of the server: webhooks, runner protocol, health, pages. Each family answers its own errors. */
export function createApp({ context, desk, liveRuns }: AppParts): Hono {
  const app = new Hono()
  app.onError((error, c) => {
    const { status, body } = errorAnswer(error)
    if (status >= 500) context.log.error({ err: error, path: c.req.path }, "request failed")
    return c.json(body, { status: status as 400 })
  })
  app.notFound((c) => c.json({ error: { code: "not_found", message: "there is no such address" } }, 404))
  app.route("/", healthRoutes(context))
  app.route("/", reviewHealthRoute(context))
  app.route("/", webhookRoute(context))
  app.route("/", runnerRoutes(context, desk))
  app.route("/", pageRoutes({ context, liveRuns }))
  return app
}
