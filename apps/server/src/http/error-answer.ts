import { errorCode, GalleyError, type GalleyErrorCode } from "@galley/contract/errors"
import type { ErrorBody } from "@galley/contract/protocol"
import type { ContentfulStatusCode } from "hono/utils/http-status"

/** HTTP status of the codes that a request can end with; every other code is the server's own fault (500). */
const statusByCode: Partial<Record<GalleyErrorCode, ContentfulStatusCode>> = {
  webhook_signature_invalid: 401,
  runner_unauthorized: 401,
  sign_in_required: 401,
  forbidden: 403,
  runner_paused: 403,
  not_found: 404,
  webhook_timeout: 408,
  lease_lost: 409,
  result_conflict: 409,
  installation_gone: 409,
  installation_suspended: 409,
  repository_gone: 409,
  settings_conflict: 409,
  runner_name_taken: 409,
  runner_token_overlaps: 409,
  project_inactive: 409,
  pull_request_closed: 409,
  webhook_too_large: 413,
  request_too_large: 413,
  result_too_large: 413,
  webhook_content_type: 415,
  webhook_payload_invalid: 400,
  webhook_delivery_id_invalid: 400,
  webhook_event_missing: 400,
  request_invalid: 422,
  settings_invalid: 422,
  finding_state_invalid: 422,
  head_sha_mismatch: 422,
  comment_invalid: 422,
  comment_too_large: 422,
  model_not_configured: 422,
  runner_too_old: 426,
  intake_store_unavailable: 503,
  github_unavailable: 503,
  github_rate_limited: 503,
}

/** Of these the rest of the body is not read, so that the connection carries no further request. */
const endsConnection: ReadonlySet<ContentfulStatusCode> = new Set([408, 413])

export type ErrorAnswer = Readonly<{ status: ContentfulStatusCode; headers: Record<string, string>; body: ErrorBody }>

/** What a failed request is answered. A fault of the server itself shows its code and no word of its message. */
export function errorAnswer(error: unknown): ErrorAnswer {
  const code = errorCode(error)
  const status = statusByCode[code]
  if (status === undefined || !(error instanceof GalleyError)) {
    return { status: 500, headers: {}, body: { error: { code, message: "something went wrong" } } }
  }
  const field = error.details.field
  const headers = endsConnection.has(status) ? { connection: "close" } : {}
  return { status, headers, body: { error: { code, message: error.message, ...(typeof field === "string" ? { field } : {}) } } }
}
