import { GalleyError } from "@galley/contract/errors"
import { MAX_PAGE_REQUEST_BYTES } from "@galley/contract/limits"
import { Hono } from "hono"
import { NONCE, secureHeaders } from "hono/secure-headers"
import { limitBody } from "../http/limit-body.ts"
import { findUser, findWorkspace } from "./access/require-access.ts"
import { requireSameOrigin } from "./access/require-same-origin.ts"
import { answerPageError } from "./answer-page-error.tsx"
import { assetRoutes } from "./assets/asset-routes.ts"
import type { PageEnv, PageParts } from "./page-env.ts"
import { deliveryRoutes } from "./routes/delivery-routes.ts"
import { fleetRoutes } from "./routes/fleet-routes.tsx"
import { projectRoutes } from "./routes/project-routes.tsx"
import { pullRequestRoutes } from "./routes/pull-request-routes.tsx"
import { runRoutes } from "./routes/run-routes.tsx"
import { settingsRoutes } from "./routes/settings-routes.tsx"
import { signInRoutes } from "./routes/sign-in-routes.tsx"

/** Addresses of the pages. The middlewares below stand on these only: webhooks and runners have rules of their own. */
const PAGE_PATHS = ["/", "/sign-in/*", "/sign-out", "/workspaces", "/w/*", "/runs/*"]

const contentSecurityPolicy = {
  defaultSrc: ["'none'"],
  scriptSrc: [NONCE],
  styleSrc: ["'self'"],
  imgSrc: ["'self'"],
  connectSrc: ["'self'"],
  formAction: ["'self'"],
  frameAncestors: ["'none'"],
  baseUri: ["'none'"],
}

/** The pages for people, and the same in JSON (`shapes.ts`). */
export function pageRoutes(parts: PageParts): Hono<PageEnv> {
  const { context } = parts
  const app = new Hono<PageEnv>()
  app.onError((error, c) => answerPageError(context, error, c))
  for (const path of PAGE_PATHS) {
    app.use(path, secureHeaders({ contentSecurityPolicy, referrerPolicy: "same-origin" }))
    app.use(path, async (c, next) => {
      c.header("Cache-Control", "no-store")
      await next()
    })
    app.use(path, limitBody(MAX_PAGE_REQUEST_BYTES, "request_too_large"))
    app.use(path, requireSameOrigin(context.config.publicUrl), findUser(context))
  }
  app.use("/w/:slug/*", findWorkspace(context))
  app.route("/", assetRoutes())
  app.route("/", signInRoutes(parts))
  app.route("/", projectRoutes(parts))
  app.route("/", settingsRoutes(parts))
  app.route("/", pullRequestRoutes(parts))
  app.route("/", runRoutes(parts))
  app.route("/", fleetRoutes(parts))
  app.route("/", deliveryRoutes(parts))
  for (const path of PAGE_PATHS) {
    app.all(path, () => {
      throw new GalleyError("not_found", "there is no such address")
    })
  }
  return app
}
