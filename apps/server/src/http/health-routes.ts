import { assertSchema } from "@galley/store/migrate"
import { Hono } from "hono"
import type { ServerContext } from "../context.ts"
import { errorAnswer } from "./error-answer.ts"
import { withinTime } from "./within-time.ts"

const READY_TIMEOUT_MS = 3_000

/** `GET /health/live`: the process answers. `GET /health/ready`: the database answers and its schema fits. */
export function healthRoutes({ config }: ServerContext): Hono {
  const schema = config.migrationsDirectory === undefined ? {} : { directory: config.migrationsDirectory }
  return new Hono()
    .get("/health/live", (c) => c.json({ status: "ok" }))
    .get("/health/ready", async (c) => {
      try {
        await withinTime(assertSchema(config.databaseUrl, schema), READY_TIMEOUT_MS)
        return c.json({ status: "ok" })
      } catch (error) {
        return c.json(errorAnswer(error).body, 503)
      }
    })
}
