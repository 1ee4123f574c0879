import { defaultJobLimits, type JobLimits } from "@galley/contract/limits"
import { noUsage } from "@galley/contract/usage"
import { onTestFinished } from "vitest"
import type { Gateway, GatewayOptions } from "../gateway.ts"
import { startGateway } from "../start-gateway.ts"
import { startScriptedModel } from "./scripted-model.ts"

export const TOKEN = "per-job-token-0123456789"
export const API_KEY = "upstream-key-0123456789"

type Overrides = Partial<Omit<GatewayOptions, "limits" | "model">> & {
  limits?: Partial<JobLimits>
  model?: Partial<GatewayOptions["model"]>
}

export const dynamicTools = { allowed: ["read", "grep", "glob"], resultTool: "StructuredOutput", treePath: "/jobs/tree" }

/** A gateway in front of a scripted model; both end with the test. */
export async function openGateway(steps: Parameters<typeof startScriptedModel>[0], overrides: Overrides = {}) {
  const model = await startScriptedModel(steps)
  const gateway = await startGateway({
    port: 0,
    token: TOKEN,
    knownSecrets: [],
    usageSoFar: noUsage,
    tools: null,
    shim: null,
    ...overrides,
    model: {
      baseUrl: model.url,
      apiKey: API_KEY,
      upstreamModel: "vendor/large-3",
      contextTokens: 64_000,
      outputTokens: 4_000,
      price: null,
      ...overrides.model,
    },
    limits: { ...defaultJobLimits, ...overrides.limits },
  })
  onTestFinished(async () => {
    await gateway.close()
    await model.close()
  })
  return { gateway, model }
}

export const hello = { model: "review", messages: [{ role: "user", content: "hello" }] }

/** Calls the model as an engine does. */
export async function callModel(gateway: Gateway, body: unknown = hello, headers: Record<string, string> = {}) {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** A Dynamic Review request: tools offered, a call demanded. */
export const dynamicRequest = (...more: unknown[]) => ({
  model: "review",
  stream: false,
  tool_choice: "required",
  tools: ["read", "grep", "glob", "StructuredOutput"].map((name) => ({
    type: "function",
    function: { name, parameters: { type: "object" } },
  })),
  messages: [{ role: "user", content: "review" }, ...more],
})

/** The two messages a finished tool call leaves in the conversation. */
export const finishedCall = (name: string, args: unknown, result: string, id = "c1") => [
  { role: "assistant", content: "", tool_calls: [{ id, type: "function", function: { name, arguments: JSON.stringify(args) } }] },
  { role: "tool", tool_call_id: id, content: result },
]

export const readResult = (path: string, text: string) =>
  `<path>${path}</path>\n<type>file</type>\n<content>\n1: ${text}\n\n(End of file - total 1 lines)\n</content>`
