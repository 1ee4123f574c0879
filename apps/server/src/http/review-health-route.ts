import { readReviewHealth } from "@galley/store/health/read-review-health"
import { Hono } from "hono"
import type { ServerContext } from "../context.ts"
import { errorAnswer } from "./error-answer.ts"
import { judgeHealth } from "./judge-health.ts"
import { withinTime } from "./within-time.ts"

const TIMEOUT_MS = 3_000

/**
 * `GET /health/reviews`: whether reviews get through, 200 or 503 with `HealthVerdict`. For alarms, not for load balancers: another server
 * would answer the same. Names no tenant, repository or person.
 */
export function reviewHealthRoute({ store, log }: ServerContext): Hono {
  const startedAt = new Date()
  return new Hono().get("/health/reviews", async (c) => {
    try {
      const verdict = judgeHealth(await withinTime(readReviewHealth(store), TIMEOUT_MS), startedAt)
      return c.json(verdict, verdict.status === "ok" ? 200 : 503)
    } catch (error) {
      log.warn({ err: error }, "the health of reviews could not be read")
      return c.json(errorAnswer(error).body, 503)
    }
  })
}
