import { isDeepStrictEqual } from "node:util"
import { GalleyError } from "@galley/contract/errors"
import { NEUTRAL_MODEL } from "@galley/gateway/gateway"
import { parse, stringify } from "smol-toml"
import { ENGINE_WAIT_MARGIN_MS } from "../engine-times.ts"

/** PR-Agent routes a model by its prefix; the name behind it is the gateway's neutral one. */
const MODEL = `openai/${NEUTRAL_MODEL}`
const MAX_PREVIOUS_FINDINGS_CHARACTERS = 60_000

export type JobSettingsInput = Readonly<{
  gatewayUrl: string
  /** Per-job gateway token, for model and GitHub shim alike. */
  token: string
  /** Goes into PR-Agent's system prompt verbatim. */
  instructions: string
  maxFindings: number
  /** Tokens of one model call, answer included. */
  contextTokens: number
  outputTokens: number
  modelCallTimeoutMs: number
  /** Absolute path of the record that PR-Agent appends. */
  recordPath: string
}>

export type JobSettings = Readonly<Record<string, Readonly<Record<string, string | number | boolean | readonly string[]>>>>

/**
 * Every setting of one PR-Agent run that differs from its defaults. PR-Agent publishes to the shim, once and quietly; it reads no
 * settings of the repository, calls one model once, and drops no file but those its code names.
 */
export function jobSettings(input: JobSettingsInput): JobSettings {
  return {
    config: {
      git_provider: "github",
      publish_output: true,
      publish_output_progress: false,
      propagate_tool_errors: true,
      model: MODEL,
      fallback_models: [],
      custom_model_max_tokens: input.contextTokens,
      max_model_tokens: input.contextTokens,
      max_output_tokens: input.outputTokens,
      temperature: 0.2,
      seed: -1,
      ai_timeout: Math.ceil((input.modelCallTimeoutMs + ENGINE_WAIT_MARGIN_MS) / 1000),
      num_retries: 0,
      retry_same_model_on_timeout: false,
      use_repo_settings_file: false,
      use_global_settings_file: false,
      global_settings_repo: "",
      enable_per_directory_settings: false,
      repo_context_files: [],
      // the default skips titles that start with "Auto", with exit 0
      ignore_pr_title: [],
      response_language: "en-US",
      large_patch_policy: "clip",
      add_user_to_requests: false,
      output_run_details: false,
    },
    pr_reviewer: {
      num_max_findings: input.maxFindings,
      max_previous_findings_chars: MAX_PREVIOUS_FINDINGS_CHARACTERS,
      persistent_comment: true,
      persistent_finding_state: true,
      final_update_message: false,
      publish_review_failure_comment: false,
      inline_key_issues: false,
      require_ticket_analysis_review: false,
      enable_review_labels_effort: false,
      enable_review_labels_security: false,
      enable_large_pr_chunking: false,
      extra_instructions: input.instructions,
    },
    ignore: { glob: [], regex: [] },
    bad_extensions: { default: [] },
    github: {
      deployment_type: "user",
      user_token: input.token,
      base_url: input.gatewayUrl,
      ratelimit_retries: 1,
      publish_as_check_run: false,
    },
    openai: { key: input.token, api_base: `${input.gatewayUrl}/v1` },
    skills: { enabled: false },
    artifacts: { enable: false },
    otel: { is_enabled: false },
    litellm: { enable_callbacks: false },
    push_outputs: { enable: true, channels: ["file"], file_path: input.recordPath },
  }
}

/**
 * The settings as TOML, read back and compared: PR-Agent only logs a file it cannot read, and would go on with its defaults.
 * Throws `engine_config` when a value does not survive, or would be taken for an instruction of the settings reader (`@…`).
 */
export function jobToml(settings: JobSettings): string {
  for (const [section, values] of Object.entries(settings)) {
    for (const [key, value] of Object.entries(values)) {
      if (typeof value === "string" && value.trimStart().startsWith("@")) refuse(`${section}.${key}`)
    }
  }
  const text = stringify(settings)
  if (!isDeepStrictEqual(readBack(text), settings)) refuse("file")
  return text
}

function readBack(text: string): unknown {
  try {
    // a clone, because the parser's tables have no prototype
    return structuredClone(parse(text))
  } catch (cause) {
    throw new GalleyError("engine_config", "PR-Agent's settings cannot be read back", { cause })
  }
}

function refuse(setting: string): never {
  throw new GalleyError("engine_config", "a setting of PR-Agent cannot be written safely", { details: { setting } })
}
