import type { GalleyErrorCode } from "@galley/contract/errors"
import type { RunPhase } from "@galley/contract/protocol"
import type { ReviewKind } from "@galley/contract/settings"
import type { JobCause, JobState } from "@galley/store/queue/job"
import type { RunOutcome } from "@galley/store/runs/run"
import type { IgnoreReason } from "../intake/decide-delivery.ts"

export const kindNames: Readonly<Record<ReviewKind, string>> = { diff: "Diff Review", dynamic: "Dynamic Review" }

export const jobStateNames: Readonly<Record<JobState, string>> = {
  waiting: "Waiting",
  running: "Running",
  publishing: "Publishing",
  succeeded: "Published",
  failed: "Failed",
  cancelled: "Cancelled",
  superseded: "Superseded",
  skipped: "Skipped",
}

export const outcomeNames: Readonly<Record<RunOutcome, string>> = {
  running: "Running",
  reviewed: "Reviewed",
  skipped: "Skipped",
  failed: "Failed",
  lost: "Runner lost",
  released: "Given back",
  cancelled: "Cancelled",
  superseded: "Superseded",
}

/** Phases in their order, as the run page lists them. */
export const phaseNames: Readonly<Record<RunPhase, string>> = {
  preparing: "Preparing the checkout",
  starting_engine: "Starting the engine",
  reviewing: "Reviewing",
  reconciling: "Reconciling findings",
  handing_over: "Handing the result over",
}

export const causeNames: Readonly<Record<JobCause, string>> = {
  event: "pull request event",
  command: "/review",
  manual: "Review now",
  reconciler: "catching up after an outage",
}

const reasonWords: Readonly<Record<IgnoreReason | "command" | "same_second", string>> = {
  event_not_used: "Galley does not use this event.",
  action_not_used: "This action never starts a review.",
  no_installation: "The delivery names no installation of the App.",
  unknown_installation: "The installation is not known here.",
  installation_suspended: "The App's installation was suspended.",
  unknown_repository: "The repository is no project here.",
  inactive_project: "The project is not active. Switch reviews on in its settings.",
  draft: "The pull request is a draft, and this project does not review drafts.",
  bot_author: "A bot opened it, and this project does not review bots' pull requests.",
  closed: "The pull request was closed.",
  already_reviewed: "This head had been reviewed before.",
  base_unchanged: "Only title or description changed.",
  not_a_pull_request: "The comment belongs to an issue, not to a pull request.",
  not_a_command: "The comment is not the command /review.",
  command_from_bot: "A bot wrote the command.",
  commander_not_allowed: "Only owners, members and collaborators of the repository may ask for a review.",
  overtaken: "A newer event had arrived before this one.",
  same_second: "Another event of the same second told something else: GitHub is asked what holds.",
  unknown_host: "The delivery came from a GitHub host that is not configured.",
  command: "Asked for by the comment /review.",
}

const codeWords: Readonly<Record<GalleyErrorCode, string>> = {
  review_kind_changed: "The project's review kind was changed while the job waited.",
  project_inactive: "The project is not active.",
  pull_request_closed: "The pull request is closed.",
  pull_request_draft: "The pull request is a draft.",
  installation_gone: "The App was uninstalled.",
  installation_suspended: "The App's installation was suspended.",
  repository_gone: "The repository no longer belongs to the installation.",
  cancelled_by_user: "Somebody cancelled it.",
  head_superseded: "A newer head was pushed, and its review replaced this one.",
  runner_lost: "The runner stopped answering.",
  runner_removed: "The runner was removed, and its job given back.",
  attempts_exhausted: "Three attempts failed; the detail names the last fault.",
  job_timeout: "The review took longer than a job may.",
  checkout_fetch_failed: "The repository could not be fetched.",
  checkout_ref_unavailable: "The commit to review is not there any more.",
  checkout_quota_exceeded: "The repository is too large to check out.",
  checkout_entries_exceeded: "The tree has too many files.",
  checkout_content_exceeded: "The tree holds too much text.",
  head_sha_mismatch: "The branch moved while it was fetched.",
  merge_base_missing: "Base and head have no common history.",
  input_too_large: "The change is too large to review.",
  changed_file_unavailable: "A changed file could not be delivered to the engine.",
  no_reviewable_files: "The change has no file that can be reviewed.",
  model_call_limit: "The review used up its model calls.",
  model_token_limit: "The review used up its tokens.",
  model_window_exceeded: "A model call did not fit the model's context window.",
  model_upstream_error: "The model provider answered with an error.",
  model_unauthorized: "The model provider refused the key.",
  model_rate_limited: "The model provider asked to slow down.",
  model_timeout: "The model did not answer in time.",
  model_usage_missing: "The model provider reported no usage.",
  model_answer_cut: "The model's answer was cut off.",
  dynamic_model_features_unsupported: "The model or its provider lacks tool calls or structured results, which Dynamic Review needs.",
  tool_limit_exceeded: "The review used up its tool calls.",
  tool_files_exceeded: "The review read as many files as it may.",
  engine_start_failed: "The engine did not start.",
  engine_start_timeout: "The engine did not start in time.",
  engine_crashed: "The engine ended unexpectedly.",
  engine_timeout: "The engine took too long.",
  engine_memory_exceeded: "The engine used more memory than it may.",
  engine_no_output: "The engine returned no result.",
  engine_output_invalid: "The engine returned a result that does not fit the contract.",
  finding_state_invalid: "The state in the summary comment cannot be read. The comment was left as it is.",
  comment_too_large: "The summary would be too large for one comment. The old comment was left as it is.",
  github_unavailable: "GitHub could not be reached.",
  github_rate_limited: "GitHub asked to slow down.",
  publish_forbidden: "GitHub did not let the App write the comment.",
  publish_gone: "The pull request or repository is gone.",
  publish_locked: "The conversation is locked.",
  publish_stale: "A newer review was published first.",
  settings_conflict: "Somebody else saved the settings meanwhile.",
  runner_name_taken: "A runner of this name is there already.",
  runner_token_overlaps: "The token before still works. End it first: at most two tokens of a runner work at a time.",
  sign_in_required: "Sign in to go on.",
  not_found: "There is nothing at this address, or it belongs to a workspace you are not a member of.",
  config_invalid: "The configuration is not usable.",
  schema_too_old: "The database is older than the server.",
  boundary_unavailable: "The runner could not put up its boundary.",
  engine_missing: "The engine is not installed on the runner.",
  engine_integrity: "The engine on the runner is not the pinned one.",
  webhook_signature_invalid: "The delivery's signature does not match.",
  webhook_too_large: "The delivery is too large.",
  webhook_timeout: "The delivery came too slowly.",
  webhook_content_type: "The delivery is not JSON.",
  webhook_payload_invalid: "The delivery cannot be read.",
  webhook_delivery_id_invalid: "The delivery has no valid id.",
  webhook_event_missing: "The delivery names no event.",
  intake_store_unavailable: "The delivery could not be stored.",
  request_invalid: "The request does not fit what was expected.",
  request_too_large: "What was sent is larger than anything this page needs.",
  forbidden: "You may not do this.",
  settings_invalid: "A setting is out of its bounds.",
  runner_unauthorized: "The runner's token is not known.",
  runner_paused: "An operator paused the runner.",
  runner_too_old: "The runner is older than this server works with.",
  server_unreachable: "The runner could not reach the server.",
  lease_lost: "The runner no longer held the job.",
  result_conflict: "The runner handed over two different results.",
  result_too_large: "The result is too large.",
  checkout_path_unsafe: "The repository holds a path that cannot be exported safely.",
  checkout_objects_refused: "The repository holds objects that cannot be exported safely.",
  model_not_configured: "The workspace has no such model.",
  model_request_too_large: "A request to the model was too large.",
  model_response_too_large: "The model's answer was too large.",
  model_request_invalid: "The engine sent the model a request that is not allowed.",
  model_override_refused: "The engine asked for another model than the job's.",
  model_upstream_redirect: "The model provider answered with a redirect.",
  model_stream_invalid: "The model's answer could not be read.",
  tool_not_allowed: "The engine asked for a tool the job does not have.",
  tool_results_exceeded: "The review's tool results are larger than they may be.",
  github_shim_refused: "The engine asked GitHub for something the job does not have.",
  engine_config: "The engine did not accept its configuration.",
  engine_failed: "The engine reported a failure.",
  finding_state_too_large: "The state in the summary comment is too large.",
  comment_invalid: "The comment does not carry its findings, or GitHub refused it.",
  github_unauthorized: "GitHub refused the App's token.",
  internal_error: "Something went wrong on the server. Its log has the details.",
}

/** What a code of a job, run or delivery means, in one sentence; a code of another version as it is. Pure. */
export function explain(code: string): string {
  const words: Readonly<Record<string, string | undefined>> = { ...codeWords, ...reasonWords }
  return Object.hasOwn(words, code) ? (words[code] ?? code) : code
}

const MINUTE = 60_000
const steps = [
  { ms: 60 * 24 * MINUTE, unit: "day" },
  { ms: 60 * MINUTE, unit: "hour" },
  { ms: MINUTE, unit: "minute" },
] as const

/** e.g. `3 minutes ago`, `just now`. Pure. */
export function timeAgo(then: Date, now: Date): string {
  const ms = now.getTime() - then.getTime()
  const step = steps.find((one) => ms >= one.ms)
  if (step === undefined) return "just now"
  const count = Math.floor(ms / step.ms)
  return `${count} ${step.unit}${count === 1 ? "" : "s"} ago`
}

/** e.g. `12 ms`, `12.3 s`, `2 min 5 s`. Pure. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < MINUTE) return `${(ms / 1000).toFixed(1)} s`
  return `${Math.floor(ms / MINUTE)} min ${Math.floor((ms % MINUTE) / 1000)} s`
}

const grouped = new Intl.NumberFormat("en-US")
/** e.g. `120,000`. Pure. */
export const count = (value: number): string => grouped.format(value)

/** e.g. `1 finding`, `3 findings`. Pure. */
export const plural = (value: number, noun: string): string => `${count(value)} ${noun}${value === 1 ? "" : "s"}`

/** e.g. `$0.0123`, or `unknown` without a price. Pure. */
export const cost = (usd: number | null): string => (usd === null ? "unknown" : `$${usd.toFixed(4)}`)
