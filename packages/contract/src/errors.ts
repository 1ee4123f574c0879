/**
 * Every stable code. A code is an interface: pages, tests and operators rely on it, so it is never renamed.
 * The message beside it may change.
 */
export const galleyErrorCodes = [
  // configuration and start
  "config_invalid",
  "schema_too_old",
  "boundary_unavailable",
  "engine_missing",
  "engine_integrity",
  // intake
  "webhook_signature_invalid",
  "webhook_too_large",
  "webhook_timeout",
  "webhook_content_type",
  "webhook_payload_invalid",
  "webhook_delivery_id_invalid",
  "webhook_event_missing",
  "intake_store_unavailable",
  // requests
  "request_invalid",
  "request_too_large",
  "not_found",
  "forbidden",
  "sign_in_required",
  "settings_invalid",
  "settings_conflict",
  "runner_name_taken",
  "runner_token_overlaps",
  // runner protocol
  "runner_unauthorized",
  "runner_paused",
  "runner_too_old",
  "server_unreachable",
  "lease_lost",
  "result_conflict",
  "result_too_large",
  // why a waiting or running job ended without a review
  "review_kind_changed",
  "project_inactive",
  "pull_request_closed",
  "pull_request_draft",
  "installation_gone",
  "installation_suspended",
  "repository_gone",
  "cancelled_by_user",
  "head_superseded",
  "runner_lost",
  "runner_removed",
  "attempts_exhausted",
  "job_timeout",
  // checkout
  "checkout_fetch_failed",
  "checkout_ref_unavailable",
  "checkout_quota_exceeded",
  "checkout_entries_exceeded",
  "checkout_content_exceeded",
  "checkout_path_unsafe",
  "checkout_objects_refused",
  "head_sha_mismatch",
  "merge_base_missing",
  "input_too_large",
  "changed_file_unavailable",
  "no_reviewable_files",
  // gateway
  "model_not_configured",
  "model_call_limit",
  "model_token_limit",
  "model_window_exceeded",
  "model_request_too_large",
  "model_response_too_large",
  "model_request_invalid",
  "model_override_refused",
  "model_upstream_error",
  "model_upstream_redirect",
  "model_unauthorized",
  "model_rate_limited",
  "model_timeout",
  "model_stream_invalid",
  "model_usage_missing",
  "model_answer_cut",
  "dynamic_model_features_unsupported",
  "tool_limit_exceeded",
  "tool_not_allowed",
  "tool_files_exceeded",
  "tool_results_exceeded",
  "github_shim_refused",
  // engines
  "engine_config",
  "engine_start_failed",
  "engine_start_timeout",
  "engine_crashed",
  "engine_failed",
  "engine_timeout",
  "engine_memory_exceeded",
  "engine_no_output",
  "engine_output_invalid",
  // findings and publication
  "finding_state_invalid",
  "finding_state_too_large",
  "comment_too_large",
  "comment_invalid",
  "github_unavailable",
  "github_rate_limited",
  "github_unauthorized",
  "publish_forbidden",
  "publish_gone",
  "publish_locked",
  "publish_stale",
  // the last resort: a fault nobody foresaw, logged with its cause
  "internal_error",
] as const

export type GalleyErrorCode = (typeof galleyErrorCodes)[number]

const known: ReadonlySet<string> = new Set(galleyErrorCodes)

/** True when `code` is one of the stable codes. */
export function isGalleyErrorCode(code: string): code is GalleyErrorCode {
  return known.has(code)
}

/**
 * An error with a stable code. `details` holds only what may be shown and logged (never a token, a body or a prompt).
 */
export class GalleyError extends Error {
  override readonly name = "GalleyError"
  readonly code: GalleyErrorCode
  readonly details: Readonly<Record<string, string | number | boolean>>

  constructor(
    code: GalleyErrorCode,
    message: string,
    options: ErrorOptions & { details?: Readonly<Record<string, string | number | boolean>> } = {},
  ) {
    super(message, options)
    this.code = code
    this.details = options.details ?? {}
  }
}

/** The code of any thrown value; `fallback` when it carries none. */
export function errorCode(error: unknown, fallback: GalleyErrorCode = "internal_error"): GalleyErrorCode {
  return error instanceof GalleyError ? error.code : fallback
}
