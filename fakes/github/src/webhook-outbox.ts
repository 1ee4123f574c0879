import { randomUUID } from "node:crypto"
import { sendWebhook, webhookBytes, webhookHeaders } from "./send-webhook.ts"
import { type Delivery, nextId, type State, timestamp } from "./state.ts"

const HOOK_ID = 1

/** One event on its way to the App. */
export type OutgoingEvent = Readonly<{
  event: string
  payload: Readonly<Record<string, unknown>>
  installationId: number | null
  repositoryId: number | null
}>

/** Webhooks that are not sent. `listed`: kept as failed, so that a redelivery finds them; otherwise lost without a trace. */
export type DropRule = { event: string | null; times: number; listed: boolean }

/**
 * How new events travel: `send` is one attempt under the event's delivery id, any number of times; `lose` keeps an attempt that never arrived,
 * so that a redelivery finds it. An event that meets neither is lost without a trace.
 */
export type Carrier = (
  event: OutgoingEvent,
  way: Readonly<{ send(): Promise<Delivery | null>; lose(): Promise<Delivery | null> }>,
) => Promise<Delivery | null>

/** `redelivery`: GitHub was asked to send it again. `lost`: it never arrives, and is kept as failed. */
type Attempt = Readonly<{ redelivery?: boolean; lost?: boolean }>

const sendAtOnce: Carrier = (_event, way) => way.send()

export type WebhookOutbox = Readonly<{
  /** Sends as the carrier does, once unless told otherwise, and keeps each attempt. Null when no target is set or the event was lost. */
  send(event: OutgoingEvent): Promise<Delivery | null>
  /** Sends an attempt's event again with the same delivery id. */
  redeliver(delivery: Delivery): Promise<Delivery | null>
  drop(rule: DropRule): void
  /** Runs work nobody waits for; `idle` resolves when all of it has ended. */
  later(work: () => Promise<unknown>): void
  idle(): Promise<void>
}>

export function createWebhookOutbox(state: State, now: () => number, signal: AbortSignal, carry: Carrier = sendAtOnce): WebhookOutbox {
  const drops: DropRule[] = []
  const background = new Set<Promise<unknown>>()

  const takeDrop = (event: string): DropRule | undefined => {
    const rule = drops.find((candidate) => candidate.times > 0 && (candidate.event ?? event) === event)
    if (rule) rule.times -= 1
    return rule
  }

  const attempt = async (
    outgoing: OutgoingEvent,
    guid: string,
    { redelivery = false, lost = false }: Attempt = {},
  ): Promise<Delivery | null> => {
    const target = state.webhook.url
    if (!target) return null
    const drop = takeDrop(outgoing.event)
    if (drop && !drop.listed) return null
    const { secret, enterpriseHost } = state.webhook
    const message = { target, secret, enterpriseHost, deliveryId: guid, hookId: HOOK_ID, appId: state.app.id, signal, ...outgoing }
    const startedAt = now()
    const outcome = drop || lost ? failed("failed to connect to host", 502) : await sendWebhook(message).then(answered, unanswered)
    const delivery: Delivery = {
      id: nextId(state),
      guid,
      event: outgoing.event,
      action: typeof outgoing.payload.action === "string" ? outgoing.payload.action : null,
      deliveredAt: timestamp(startedAt),
      redelivery,
      durationSeconds: (now() - startedAt) / 1000,
      status: outcome.status,
      statusCode: outcome.statusCode,
      installationId: outgoing.installationId,
      repositoryId: outgoing.repositoryId,
      url: target,
      request: { headers: webhookHeaders(message, webhookBytes(outgoing.payload)), payload: outgoing.payload },
      response: outcome.response,
    }
    state.deliveries.push(delivery)
    return delivery
  }

  return {
    send(outgoing) {
      const guid = randomUUID()
      return carry(outgoing, { send: () => attempt(outgoing, guid), lose: () => attempt(outgoing, guid, { lost: true }) })
    },
    redeliver: (delivery) => attempt({ ...delivery, payload: delivery.request.payload }, delivery.guid, { redelivery: true }),
    drop: (rule) => void drops.push({ ...rule }),
    later(work) {
      const running = work().finally(() => background.delete(running))
      background.add(running)
    },
    async idle() {
      while (background.size > 0) await Promise.all(background)
    },
  }
}

type Outcome = Pick<Delivery, "status" | "statusCode" | "response">

function answered(answer: Awaited<ReturnType<typeof sendWebhook>>): Outcome {
  const ok = answer.statusCode >= 200 && answer.statusCode < 300
  return {
    status: ok ? "OK" : answer.statusText,
    statusCode: answer.statusCode,
    response: { headers: answer.headers, payload: answer.body },
  }
}

/** GitHub lists a receiver that cannot be reached as 502, and one that does not answer in time as 504. */
function unanswered(error: unknown): Outcome {
  const timedOut = error instanceof Error && error.name === "TimeoutError"
  return timedOut ? failed("timed out", 504) : failed("failed to connect to host", 502)
}

function failed(status: string, statusCode: number): Outcome {
  return { status, statusCode, response: { headers: {}, payload: null } }
}
