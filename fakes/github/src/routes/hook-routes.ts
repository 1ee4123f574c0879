import { Hono } from "hono"
import { z } from "zod"
import { requireApp } from "../access.ts"
import type { Context, Env } from "../context.ts"
import { clamp } from "../paginate.ts"
import { readJson } from "../read-json.ts"
import { notFound } from "../rest-error.ts"
import type { Delivery, State } from "../state.ts"

const ConfigChange = z.object({ url: z.url().optional(), secret: z.string().optional(), content_type: z.string().optional() })

/** The App's webhook: its configuration, what was sent, and sending again. */
export function hookRoutes({ state, outbox }: Context): Hono<Env> {
  const routes = new Hono<Env>()
  routes.get("/app/hook/config", (c) => {
    requireApp(c.get("credential"))
    return c.json(configView(state))
  })
  routes.patch("/app/hook/config", async (c) => {
    requireApp(c.get("credential"))
    const change = await readJson(c, ConfigChange)
    state.webhook.url = change.url ?? state.webhook.url
    state.webhook.secret = change.secret ?? state.webhook.secret
    return c.json(configView(state))
  })
  routes.get("/app/hook/deliveries", (c) => {
    requireApp(c.get("credential"))
    const { deliveries, next } = deliveryPage(
      state.deliveries,
      c.req.query("cursor"),
      c.req.query("status"),
      clamp(c.req.query("per_page"), 30, 100),
    )
    const query = new URLSearchParams({ ...c.req.query(), cursor: next ?? "" })
    const headers: Record<string, string> = next ? { link: `<${c.get("links").api}/app/hook/deliveries?${query}>; rel="next"` } : {}
    return c.json(deliveries.map(deliveryItemView), 200, headers)
  })
  routes.get("/app/hook/deliveries/:id", (c) => {
    requireApp(c.get("credential"))
    const delivery = openDelivery(state, c.req.param("id"))
    return c.json({ ...deliveryItemView(delivery), url: delivery.url, request: delivery.request, response: delivery.response })
  })
  routes.post("/app/hook/deliveries/:id/attempts", (c) => {
    requireApp(c.get("credential"))
    const delivery = openDelivery(state, c.req.param("id"))
    outbox.later(() => outbox.redeliver(delivery))
    return c.json({}, 202)
  })
  return routes
}

function configView({ webhook }: State) {
  return { content_type: "json", insecure_ssl: "0", secret: "********", ...(webhook.url && { url: webhook.url }) }
}

/** Newest first; the cursor is the id of the last delivery of the page before. */
function deliveryPage(all: readonly Delivery[], cursor: string | undefined, status: string | undefined, perPage: number) {
  const succeeded = (delivery: Delivery) => delivery.statusCode >= 200 && delivery.statusCode < 300
  const before = Number(cursor ?? Number.POSITIVE_INFINITY)
  const older = all
    .toReversed()
    .filter((delivery) => delivery.id < before)
    .filter((delivery) => status === undefined || succeeded(delivery) === (status === "success"))
  const deliveries = older.slice(0, perPage)
  return { deliveries, next: older.length > perPage ? String(deliveries.at(-1)?.id) : null }
}

function deliveryItemView(delivery: Delivery) {
  return {
    id: delivery.id,
    guid: delivery.guid,
    delivered_at: delivery.deliveredAt,
    redelivery: delivery.redelivery,
    duration: delivery.durationSeconds,
    status: delivery.status,
    status_code: delivery.statusCode,
    event: delivery.event,
    action: delivery.action,
    installation_id: delivery.installationId,
    repository_id: delivery.repositoryId,
    throttled_at: null,
  }
}

function openDelivery(state: State, id: string): Delivery {
  const delivery = state.deliveries.find((candidate) => candidate.id === Number(id))
  if (!delivery) throw notFound()
  return delivery
}
