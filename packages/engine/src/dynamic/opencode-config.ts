import { NEUTRAL_MODEL } from "@galley/gateway/gateway"
import { ENGINE_WAIT_MARGIN_MS } from "../engine-times.ts"

/** Names inside the generated configuration. They are neutral on purpose: the engine tunes requests by provider and model names. */
export const PROVIDER_ID = "proxy"
export const AGENT_NAME = "review"
/** The engine's own tool for the structured result; it must be allowed by name or a deny-all rule removes it too. */
export const RESULT_TOOL = "StructuredOutput"
/** Tools of the engine that may be called, the result aside. */
export const READING_TOOLS = ["read", "grep", "glob"] as const
/**
 * Everything else is denied. The engine asks for `doom_loop`, which is no tool, when an answer makes the same call three times; denied, it
 * would fail without a reason. How often a model may repeat itself is for the gateway's budgets to say.
 */
export const GRANTS = [...READING_TOOLS, RESULT_TOOL, "doom_loop"] as const

export type OpenCodeConfigInput = Readonly<{
  gatewayUrl: string
  /** Per-job gateway token. */
  token: string
  systemPrompt: string
  /** XDG data directory of the job. */
  dataHome: string
  contextTokens: number
  outputTokens: number
  modelCallTimeoutMs: number
}>

/**
 * The whole configuration of one engine. Everything is denied but reading and the structured result; compaction is off because the
 * engine forgets the result schema when it compacts; there is no plugin, MCP server, language server, formatter or second agent.
 */
export function openCodeConfig(input: OpenCodeConfigInput) {
  const model = `${PROVIDER_ID}/${NEUTRAL_MODEL}`
  const permission = permissions(input.dataHome)
  const off = { disable: true }
  return {
    model,
    small_model: model,
    enabled_providers: [PROVIDER_ID],
    default_agent: AGENT_NAME,
    share: "disabled",
    autoupdate: false,
    snapshot: false,
    lsp: false,
    formatter: false,
    plugin: [],
    mcp: {},
    instructions: [],
    username: "engine",
    compaction: { auto: false, prune: false },
    provider: { [PROVIDER_ID]: provider(input) },
    permission,
    agent: {
      build: off,
      plan: off,
      general: off,
      explore: off,
      [AGENT_NAME]: { mode: "primary", prompt: input.systemPrompt, permission },
    },
  } as const
}

function provider(input: OpenCodeConfigInput) {
  const waitMs = input.modelCallTimeoutMs + ENGINE_WAIT_MARGIN_MS
  return {
    npm: "@ai-sdk/openai-compatible",
    name: PROVIDER_ID,
    options: { baseURL: `${input.gatewayUrl}/v1`, apiKey: input.token, headerTimeout: waitMs, chunkTimeout: waitMs },
    models: {
      [NEUTRAL_MODEL]: {
        name: NEUTRAL_MODEL,
        tool_call: true,
        reasoning: false,
        attachment: false,
        temperature: false,
        modalities: { input: ["text"], output: ["text"] },
        limit: { context: input.contextTokens, output: input.outputTokens },
      },
    },
  }
}

function permissions(dataHome: string) {
  return {
    "*": "deny",
    ...Object.fromEntries(GRANTS.map((name) => [name, "allow"])),
    // The engine allows this very pattern again unless it is denied by the same spelling.
    external_directory: { "*": "deny", [`${dataHome}/opencode/tool-output/*`]: "deny" },
  }
}
