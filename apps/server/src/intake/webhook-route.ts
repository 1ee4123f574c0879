import { createSecretKey } from "node:crypto"
import { errorCode, GalleyError } from "@galley/contract/errors"
import { MAX_WEBHOOK_BYTES } from "@galley/contract/limits"
import { verifySignature } from "@galley/github/verify-signature"
import { parseWebhookEvent } from "@galley/github/webhook-event"
import { type Intake, openIntake } from "@galley/store/intake/take-delivery"
import { type Delivery, type DeliveryVerdict, withIntake } from "@galley/store/intake/with-intake"
import { Hono } from "hono"
import type { ServerContext } from "../context.ts"
import { withinTime } from "../http/within-time.ts"
import { applyDecision, decideStep, needsPullRequest } from "./apply-decision.ts"
import { readBody } from "./read-body.ts"

/** GitHub waits ten seconds; a frozen database must be told to it well before. */
const STORE_TIMEOUT_MS = 4_500

const DELIVERY_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const EVENT_NAME = /^[a-z_]{1,100}$/

function headersOf(request: Request): { deliveryId: string; event: string } {
  const contentType = request.headers.get("content-type") ?? ""
  if (!/^application\/json(?:;|$)/i.test(contentType))
    throw new GalleyError("webhook_content_type", "set the webhook's content type to application/json")
  const deliveryId = request.headers.get("x-github-delivery") ?? ""
  if (!DELIVERY_ID.test(deliveryId)) throw new GalleyError("webhook_delivery_id_invalid", "X-GitHub-Delivery must be a UUID")
  const event = request.headers.get("x-github-event") ?? ""
  if (!EVENT_NAME.test(event)) throw new GalleyError("webhook_event_missing", "X-GitHub-Event must name an event")
  return { deliveryId: deliveryId.toLowerCase(), event }
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body))
  } catch (cause) {
    throw new GalleyError("webhook_payload_invalid", "the body is not JSON in UTF-8", { cause })
  }
}

/** A delivery of GitHub Enterprise Server names its host; one of another host than the configured one concerns nobody here. */
function isForeignHost(request: Request, webUrl: string): boolean {
  const host = request.headers.get("x-github-enterprise-host")
  return host !== null && host !== new URL(webUrl).host
}

/**
 * `POST /webhooks/github`: the signature over the raw bytes comes first, then the payload is read, then one transaction records, decides and
 * queues, and only its commit is answered with 202. A failure before the commit leaves nothing behind and answers 5xx, so that GitHub's
 * redelivery works. A repeated delivery id changes nothing.
 */
export function webhookRoute(context: ServerContext): Hono {
  const intake = openIntake(context.store)
  const secrets = context.config.github.webhookSecrets.map((secret) => createSecretKey(secret, "utf8"))
  return new Hono().post("/webhooks/github", async (c) => {
    try {
      const body = await readBody(c.req.raw, MAX_WEBHOOK_BYTES, context.config.webhookBodyMs)
      if (!verifySignature(body, c.req.header("x-hub-signature-256"), secrets)) {
        throw new GalleyError("webhook_signature_invalid", "the signature does not match the body")
      }
      const { deliveryId, event } = headersOf(c.req.raw)
      const verdict = await take(
        context,
        intake,
        deliveryId,
        event,
        parseJson(body),
        isForeignHost(c.req.raw, context.config.github.webUrl),
      )
      context.log.info({ deliveryId, event, ...verdict }, "delivery taken")
      return c.json(verdict, 202)
    } catch (error) {
      context.log.warn({ code: errorCode(error) }, "delivery refused")
      throw error
    }
  })
}

async function take(
  context: ServerContext,
  intake: Intake,
  deliveryId: string,
  eventName: string,
  payload: unknown,
  foreign: boolean,
): Promise<Omit<DeliveryVerdict, "outcome"> & { outcome: DeliveryVerdict["outcome"] | "duplicate" }> {
  const event = parseWebhookEvent(eventName, payload)
  const delivery: Delivery = {
    hostId: context.hostId,
    deliveryId,
    event: eventName,
    action: event.action || null,
    // Ids of another host name nothing here.
    githubInstallationId: foreign ? null : event.installationId,
    githubRepositoryId: foreign ? null : (event.repository?.id ?? null),
    pullRequestNumber: event.type === "pull_request" ? event.pullRequest.number : event.type === "comment" ? event.number : null,
  }
  const { store, config } = context
  const ofStranger = { step: { action: "ignore" as const, reason: "unknown_host" }, pullRequest: null }
  const taken = await withinDeadline(
    async () =>
      (await intake.take(
        delivery,
        (target) => (foreign ? ofStranger : decideStep(event, target, config.github.webUrl)),
        needsPullRequest(event),
      )) ?? (await withIntake(store, delivery, (tx, target) => applyDecision(context, tx, deliveryId, event, target))),
  )
  if (taken.duplicate) return { outcome: "duplicate", reason: "delivery_repeated" }
  const { duplicate: _, ...verdict } = taken
  return verdict
}

/** Nothing was committed when this throws, or the commit is on its way: then the redelivery is recognised as a repetition. */
async function withinDeadline<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await withinTime(work(), STORE_TIMEOUT_MS)
  } catch (cause) {
    if (cause instanceof GalleyError) throw cause
    throw new GalleyError("intake_store_unavailable", "the delivery could not be stored; send it again", { cause })
  }
}
