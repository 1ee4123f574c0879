import { GalleyError, type GalleyErrorCode } from "@galley/contract/errors"
import type { JobLimits } from "@galley/contract/limits"
import type { Credentials } from "@galley/contract/protocol"
import { Agent, errors, request } from "undici"
import type { AnswerBody } from "./read-answer.ts"

/** Milliseconds to open a connection to the provider. */
const CONNECT_TIMEOUT_MS = 10_000

/** What came back. `failure` says why the body is not whole; what arrived before is kept, because its usage counts. */
export type ModelResponse = Readonly<{ status: number; body: AnswerBody; failure: GalleyError | null }>

/** Connections to one provider for one job: bounded answers, no redirects, no retries. Destroy it when the job ends. */
export function openModelAgent(limits: JobLimits): Agent {
  return new Agent({
    connect: { timeout: CONNECT_TIMEOUT_MS },
    headersTimeout: limits.modelCallTimeoutMs,
    bodyTimeout: limits.modelIdleTimeoutMs,
    maxResponseSize: limits.maxModelResponseBytes,
  })
}

/**
 * Sends one chat completion to the workspace's provider. Never throws for what the provider or the network does.
 *
 * A streamed answer must send a byte every `modelIdleTimeoutMs`; a plain one is silent until it is done and has the whole call's time.
 */
export async function callModel(
  agent: Agent,
  model: Credentials["model"],
  body: string,
  options: Readonly<{ stream: boolean; limits: JobLimits; signal: AbortSignal }>,
): Promise<ModelResponse> {
  const { stream, limits, signal } = options
  const chunks: Uint8Array[] = []
  let status = 0
  let contentType = ""
  let failure: GalleyError | null = null
  try {
    const response = await request(`${model.baseUrl.replace(/\/+$/, "")}/chat/completions`, {
      dispatcher: agent,
      method: "POST",
      headers: {
        authorization: `Bearer ${model.apiKey}`,
        "content-type": "application/json",
        accept: stream ? "text/event-stream" : "application/json",
        "user-agent": "galley",
      },
      body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(limits.modelCallTimeoutMs)]),
      headersTimeout: stream ? limits.modelIdleTimeoutMs : limits.modelCallTimeoutMs,
    })
    status = response.statusCode
    contentType = String(response.headers["content-type"] ?? "")
    for await (const chunk of response.body) chunks.push(chunk)
  } catch (cause) {
    failure = new GalleyError(failureCode(cause), "the call to the model did not end well", { cause })
  }
  return { status, body: { contentType, text: Buffer.concat(chunks).toString("utf8") }, failure }
}

function failureCode(cause: unknown): GalleyErrorCode {
  if (cause instanceof errors.ResponseExceededMaxSizeError) return "model_response_too_large"
  const timeouts = [errors.HeadersTimeoutError, errors.BodyTimeoutError, errors.ConnectTimeoutError]
  if (timeouts.some((timeout) => cause instanceof timeout)) return "model_timeout"
  return cause instanceof Error && cause.name === "TimeoutError" ? "model_timeout" : "model_upstream_error"
}

/**
 * What an answer other than 2xx means. Decided by status and by words any provider of this protocol uses, never by its name.
 *
 * @param text body of the answer; only looked at, never shown
 * @param withTools whether the request needed tools or a structured result
 */
export function refusalCode(status: number, text: string, withTools: boolean): GalleyErrorCode {
  if (status === 401 || status === 403) return "model_unauthorized"
  if (status === 429) return "model_rate_limited"
  if (status >= 300 && status < 400) return "model_upstream_redirect"
  if (status === 408 || status === 504) return "model_timeout"
  if (status >= 500) return "model_upstream_error"
  if (/context.?(?:length|window)|maximum context|too many tokens|prompt is too long/i.test(text)) return "model_window_exceeded"
  if (withTools && /tool|function.?call|response.?format|structured|json.?schema/i.test(text)) return "dynamic_model_features_unsupported"
  return "model_upstream_error"
}
