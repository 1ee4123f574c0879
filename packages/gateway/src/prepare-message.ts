import { GalleyError } from "@galley/contract/errors"
import type { JobLimits } from "@galley/contract/limits"
import { cleanMessage } from "./clean-message.ts"
import type { GatewayOptions } from "./gateway.ts"
import type { Message } from "./model-request.ts"
import { boundToolResult, type ToolUse } from "./tool-results.ts"

/** A message as JSON for the provider, and what it tells about the tools. */
export type PreparedMessage = ToolUse & Readonly<{ json: string }>

export type PrepareOptions = Pick<GatewayOptions, "tools"> & Readonly<{ limits: Pick<JobLimits, "maxToolResultBytes"> }>

const noUse: ToolUse = { calls: 0, resultBytes: 0, cutBytes: 0, files: [] }

/**
 * Takes secrets out of a message and bounds its tool result. Pure.
 * Throws `tool_not_allowed` for a tool result that the job does not allow or that holds a file from outside the export.
 */
export function prepareMessage(message: Message, secrets: readonly string[], { tools, limits }: PrepareOptions): PreparedMessage {
  const clean = cleanMessage(message, secrets)
  if (tools === null) {
    if (clean.role === "tool") throw new GalleyError("tool_not_allowed", "a tool result in a review without tools")
    return { ...noUse, json: JSON.stringify(clean) }
  }
  if (clean.role === "tool") {
    const { content, ...use } = boundToolResult(clean.content, tools.treePath, limits.maxToolResultBytes)
    return { ...use, json: JSON.stringify({ ...clean, content }) }
  }
  const calls = clean.role === "assistant" ? (clean.tool_calls ?? []) : []
  return { ...noUse, calls: calls.filter((call) => call.function.name !== tools.resultTool).length, json: JSON.stringify(clean) }
}
