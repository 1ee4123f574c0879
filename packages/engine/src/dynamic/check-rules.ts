import { isDeepStrictEqual } from "node:util"
import { GalleyError } from "@galley/contract/errors"
import { z } from "zod"
import { AGENT_NAME, GRANTS, PROVIDER_ID } from "./opencode-config.ts"

const Rule = z.object({ permission: z.string(), pattern: z.string(), action: z.string() })
type Rule = z.infer<typeof Rule>

/** What `GET /agent` answers, as far as it is checked. */
export const AgentList = z.array(z.object({ name: z.string(), hidden: z.boolean().nullish(), permission: z.array(Rule) }))
/** What `GET /config` answers, as far as it is checked. */
export const EffectiveConfig = z.object({
  enabled_providers: z.array(z.string()),
  provider: z.record(z.string(), z.object({ options: z.object({ baseURL: z.string() }) })),
  plugin: z.array(z.unknown()),
  mcp: z.record(z.string(), z.unknown()),
  instructions: z.array(z.unknown()),
  share: z.literal("disabled"),
  autoupdate: z.literal(false),
  compaction: z.object({ auto: z.literal(false), prune: z.literal(false) }),
})

/**
 * Checks that the running engine obeys the generated configuration and nothing was merged into it: only the agent `review` can be
 * chosen, everything but reading and the result is denied to it, and the gateway is the only provider. Pure.
 * Throws `engine_config`.
 */
export function checkRules(agents: z.infer<typeof AgentList>, config: z.infer<typeof EffectiveConfig>, baseUrl: string): void {
  const visible = agents.filter((agent) => agent.hidden !== true)
  const review = visible[0]
  if (review === undefined || visible.length !== 1 || review.name !== AGENT_NAME) refuse("agents")
  if (!isDeepStrictEqual(grants(review.permission), expectedGrants)) refuse("permissions")
  if (!isDeepStrictEqual(config.enabled_providers, [PROVIDER_ID])) refuse("enabled_providers")
  const providers = Object.entries(config.provider).map(([name, provider]) => [name, provider.options.baseURL])
  if (!isDeepStrictEqual(providers, [[PROVIDER_ID, baseUrl]])) refuse("provider")
  if (config.plugin.length + config.instructions.length + Object.keys(config.mcp).length > 0) refuse("extensions")
}

const expectedGrants: readonly string[] = GRANTS.map((name) => `allow ${name} *`).sort()

/** What is not denied after the last deny-all rule. The last matching rule wins, so nothing before it matters. */
function grants(rules: readonly Rule[]): string[] {
  const denyAll = rules.findLastIndex((rule) => rule.permission === "*" && rule.pattern === "*" && rule.action === "deny")
  const later = denyAll < 0 ? rules : rules.slice(denyAll + 1)
  return later
    .filter((rule) => rule.action !== "deny")
    .map((rule) => `${rule.action} ${rule.permission} ${rule.pattern}`)
    .sort()
}

function refuse(part: string): never {
  throw new GalleyError("engine_config", "the engine does not run with the generated configuration", { details: { part } })
}
