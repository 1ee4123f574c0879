import { type DeliveryStory, getDelivery } from "@galley/store/deliveries/get-delivery"
import { Hono } from "hono"
import type { DeliveryAnswer } from "../delivery-answer.ts"
import type { PageEnv, PageParts } from "../page-env.ts"
import { readId } from "../request-values.ts"

/** What became of one delivery, in JSON. The id is the one GitHub shows among the App's recent deliveries. */
export function deliveryRoutes({ context: { store } }: PageParts): Hono<PageEnv> {
  return new Hono<PageEnv>().get("/w/:slug/deliveries/:deliveryId", async (c) => {
    const deliveryId = readId(c.req.param("deliveryId").toLowerCase())
    return c.json(deliveryAnswer(await getDelivery(store, c.get("workspace").id, deliveryId)))
  })
}

function deliveryAnswer({ delivery, job }: DeliveryStory): DeliveryAnswer {
  const { deliveryId, event, action, outcome, reason, projectId, pullRequestNumber } = delivery
  return {
    delivery: { deliveryId, event, action, outcome, reason, projectId, pullRequestNumber, receivedAt: delivery.receivedAt.toISOString() },
    job: job && {
      id: job.id,
      state: job.state,
      kind: job.reviewKind,
      headSha: job.headSha,
      code: job.code,
      detail: job.detail,
      runId: job.runId,
    },
  }
}
