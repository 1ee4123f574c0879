import { Hono } from "hono"
import type { Context, Env } from "../context.ts"

/** `GET /meta` and `GET /rate_limit`. */
export function metaRoutes({ rateLimits }: Context): Hono<Env> {
  const routes = new Hono<Env>()
  routes.get("/meta", (c) =>
    c.json({ verifiable_password_authentication: false, ...(c.get("links").flavour === "ghes" && { installed_version: "3.17.0" }) }),
  )
  routes.get("/rate_limit", (c) => {
    const { limit, used, remaining, resetAtSeconds: reset } = rateLimits.read(c.get("credential"))
    const rate = { limit, used, remaining, reset }
    return c.json({ resources: { core: rate, search: rate, graphql: rate }, rate })
  })
  return routes
}
