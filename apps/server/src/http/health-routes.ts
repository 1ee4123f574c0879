import { Hono } from "hono"
import { errorAnswer } from "./error-answer.ts"
import { withinTime } from "./within-time.ts"

const READY_TIMEOUT_MS = 3_000

/**
 * `GET /health/live`: the process answers. `GET /health/ready`: the database answers and its schema fits.
 *
 * @param checkReady throws when the database does not answer or does not fit
 */
export function healthRoutes(checkReady: () => Promise<void>): Hono {
  return new Hono()
    .get("/health/live", (c) => c.json({ status: "ok" }))
    .get("/health/ready", async (c) => {
      try {
        await withinTime(checkReady(), READY_TIMEOUT_MS)
        return c.json({ status: "ok" })
      } catch (error) {
        return c.json(errorAnswer(error).body, 503)
      }
    })
}
