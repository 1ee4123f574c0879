import { createHmac, randomUUID } from "node:crypto"

/** GitHub gives a receiver this long to answer. */
const ANSWER_WITHIN_MS = 10_000

export type WebhookMessage = Readonly<{
  /** Address that receives the POST. */
  target: string
  secret: string
  /** X-GitHub-Event. */
  event: string
  /** Sent as compact JSON; bytes are sent as they are. */
  payload: Readonly<Record<string, unknown>> | Uint8Array
  /** X-GitHub-Delivery; a new one when left out. */
  deliveryId?: string
  hookId?: number
  appId?: number
  /** X-GitHub-Enterprise-Host; null or left out: no such header, as from github.com. */
  enterpriseHost?: string | null
  signal?: AbortSignal
}>

export type WebhookAnswer = Readonly<{
  deliveryId: string
  statusCode: number
  statusText: string
  requestHeaders: Readonly<Record<string, string>>
  headers: Readonly<Record<string, string>>
  body: string
}>

/** The value of X-Hub-Signature-256 for exactly these bytes. */
export function signWebhook(secret: string, body: Uint8Array): string {
  return `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`
}

/** The bytes GitHub would send and sign: compact JSON. */
export function webhookBytes(payload: WebhookMessage["payload"]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(payload instanceof Uint8Array ? payload : Buffer.from(JSON.stringify(payload)))
}

/** Every header of a delivery of this body. */
export function webhookHeaders(message: WebhookMessage, body: Uint8Array): Record<string, string> {
  const sha1 = createHmac("sha1", message.secret).update(body).digest("hex")
  return {
    accept: "*/*",
    "content-type": "application/json",
    "user-agent": "GitHub-Hookshot/f0a1e2b",
    "x-github-delivery": message.deliveryId ?? randomUUID(),
    "x-github-event": message.event,
    "x-github-hook-id": String(message.hookId ?? 1),
    "x-github-hook-installation-target-id": String(message.appId ?? 1),
    "x-github-hook-installation-target-type": "integration",
    "x-hub-signature": `sha1=${sha1}`,
    "x-hub-signature-256": signWebhook(message.secret, body),
    ...(message.enterpriseHost && {
      "x-github-enterprise-host": message.enterpriseHost,
      "x-github-enterprise-version": "3.17.0",
    }),
  }
}

/** Sends one signed delivery. Rejects with fetch's error when no answer comes within 10 seconds. */
export async function sendWebhook(message: WebhookMessage): Promise<WebhookAnswer> {
  const body = webhookBytes(message.payload)
  const headers = webhookHeaders(message, body)
  const timeout = AbortSignal.timeout(ANSWER_WITHIN_MS)
  const signal = message.signal ? AbortSignal.any([message.signal, timeout]) : timeout
  const response = await fetch(message.target, { method: "POST", headers, body, redirect: "manual", signal })
  return {
    deliveryId: headers["x-github-delivery"] ?? "",
    statusCode: response.status,
    statusText: response.statusText || String(response.status),
    requestHeaders: headers,
    headers: Object.fromEntries(response.headers),
    body: await response.text(),
  }
}
