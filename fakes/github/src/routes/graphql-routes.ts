import { Hono } from "hono"
import { z } from "zod"
import type { Env } from "../context.ts"
import { readJson } from "../read-json.ts"
import { RestError } from "../rest-error.ts"

const Query = z.object({ query: z.string(), variables: z.record(z.string(), z.unknown()).default({}) })

/** The one GraphQL query PR-Agent's review makes: review threads, of which there are none. Others get an error. */
export function graphqlRoutes(): Hono<Env> {
  const routes = new Hono<Env>()
  routes.post("/graphql", async (c) => {
    if (c.get("credential").kind === "none") throw new RestError(401, "This endpoint requires you to be authenticated.")
    const { query } = await readJson(c, Query)
    if (!query.includes("reviewThreads"))
      return c.json({ data: null, errors: [{ type: "NOT_IMPLEMENTED", message: "not part of this fake" }] })
    const reviewThreads = { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } }
    return c.json({ data: { repository: { pullRequest: { reviewThreads } } } })
  })
  return routes
}
