import { z } from "zod"
import type { GitHubCall } from "./github-app.ts"
import { PAGE_SIZE } from "./read-pages.ts"

/** One attempt of GitHub to deliver a webhook of the App. */
export type HookDelivery = Readonly<{
  /** Digits: GitHub's ids are 64 bits wide and may not fit a number. */
  attemptId: string
  /** `X-GitHub-Delivery` in lower case; all attempts of one delivery share it. */
  deliveryId: string
  event: string
  deliveredAt: Date
  /** Answered with 2xx. */
  succeeded: boolean
}>

export type HookDeliveryPage = Readonly<{ deliveries: readonly HookDelivery[]; nextCursor: string | null }>

const DeliveriesAnswer = z.array(
  z.object({
    id: z.string().regex(/^\d+$/),
    guid: z.string().min(1).max(100),
    delivered_at: z.iso.datetime({ offset: true }),
    status_code: z.number(),
    event: z.string(),
  }),
)

/**
 * One page of the App's deliveries, newest first, 100 attempts at most.
 *
 * @param cursor `nextCursor` of the page before; null for the newest
 * @throws codes of `githubFault`
 */
export async function listHookDeliveries(call: GitHubCall, cursor: string | null): Promise<HookDeliveryPage> {
  const { data, headers } = await call("read", "GET /app/hook/deliveries", {
    per_page: PAGE_SIZE,
    ...(cursor === null ? {} : { cursor }),
    // The plain text: read as numbers, the ids would be rounded.
    request: { parseSuccessResponseBody: false },
  })
  const text = await new Response(data as BodyInit).text()
  return { deliveries: DeliveriesAnswer.parse(JSON.parse(text, idAsText)).map(deliveryOf), nextCursor: cursorOf(headers.link) }
}

/** Asks GitHub to send a delivery again, under the same delivery id. @throws `not_found` and the other codes of `githubFault` */
export async function requestRedelivery(call: GitHubCall, attemptId: string): Promise<void> {
  await call("read", "POST /app/hook/deliveries/{delivery_id}/attempts", { delivery_id: attemptId })
}

/** A JSON reviver; `source` is how the number is written. */
function idAsText(key: string, value: unknown, context?: { source?: string }): unknown {
  return key === "id" && typeof value === "number" ? context?.source : value
}

function deliveryOf(raw: z.infer<typeof DeliveriesAnswer>[number]): HookDelivery {
  return {
    attemptId: raw.id,
    deliveryId: raw.guid.toLowerCase(),
    event: raw.event,
    deliveredAt: new Date(raw.delivered_at),
    succeeded: raw.status_code >= 200 && raw.status_code < 300,
  }
}

function cursorOf(link: unknown): string | null {
  const next = /<([^>]+)>;\s*rel="next"/.exec(typeof link === "string" ? link : "")?.[1]
  return next === undefined ? null : new URL(next).searchParams.get("cursor")
}
