import type { IncomingMessage, ServerResponse } from "node:http"
import { GalleyError } from "@galley/contract/errors"
import type { Usage } from "@galley/contract/usage"
import type { Agent } from "undici"
import { callModel, type ModelResponse, refusalCode } from "./call-model.ts"
import { checkAnswer } from "./check-answer.ts"
import type { GatewayOptions } from "./gateway.ts"
import { readBody } from "./http-edge.ts"
import type { Ledger, Reservation, TokenUsage } from "./ledger.ts"
import { type Message, type ModelRequest, parseModelRequest, upstreamBody, wantedOutputTokens } from "./model-request.ts"
import type { PreparedMessage } from "./prepare-message.ts"
import { type ModelAnswer, readAnswer, readUsage } from "./read-answer.ts"
import { sumToolUse, type ToolHistory } from "./tool-results.ts"
import { writeAnswer } from "./write-answer.ts"

/** What the gateway remembers about the tools of this attempt. */
export type ToolRecord = {
  usage: Pick<Usage, "toolCalls" | "toolFiles" | "toolResultBytes">
  /** Relative to the export, in the order they were first seen. */
  readonly examined: Set<string>
  /** Tools of the calls whose path led outside the export. */
  readonly misled: string[]
  readonly finishReasons: string[]
}

export type ModelRoute = Readonly<{
  options: GatewayOptions
  agent: Agent
  ledger: Ledger
  record: ToolRecord
  /** `prepareMessage` for each message of a conversation. */
  prepareMessages: (messages: readonly Message[]) => PreparedMessage[]
}>

/**
 * Takes one model call from the engine's request to the engine's answer: bounded, cleaned, counted, asked, checked. Nothing is sent to
 * the engine before the answer is whole and allowed.
 *
 * Throws the code that ends the job; the caller answers the engine then.
 */
export async function answerModelCall(
  route: ModelRoute,
  incoming: IncomingMessage,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const { options, agent, ledger, record } = route
  const { limits, model } = options
  const raw = await readBody(incoming, limits.maxModelRequestBytes, "model_request_too_large")
  const request = parseModelRequest(raw)
  const { messages, history } = prepare(route, request)
  const stream = request.stream ?? false
  const reservation = ledger.reserve(raw.length - history.cutBytes, wantedOutputTokens(request, model.outputTokens))
  for (const path of history.files) record.examined.add(path)
  const body = upstreamBody(request, messages, model.upstreamModel, reservation.outputTokens)
  const result = await callModel(agent, model, body, { stream, limits, signal })
  const usage = settle(reservation, result)
  options.onUsage?.(combinedUsage(route))
  const answer = readModelResponse(result, request)
  record.finishReasons.push(answer.finishReason)
  if (usage === null) throw new GalleyError("model_usage_missing", "the provider reported no usage")
  const { answer: allowed, misled } = checkAnswer(answer, request, options.tools, history, limits, options.usageSoFar)
  record.misled.push(...misled)
  record.usage.toolCalls = history.calls + allowed.toolCalls.filter((call) => call.name !== options.tools?.resultTool).length
  const written = writeAnswer(allowed, usage, stream)
  response.writeHead(200, { "content-type": written.contentType, "cache-control": "no-store" }).end(written.body)
}

/** Usage of this attempt. */
export function combinedUsage(route: Pick<ModelRoute, "ledger" | "record">): Usage {
  return { ...route.ledger.usage(), ...route.record.usage }
}

/** What the conversation may carry to the model. Throws when the engine used or offers what the job does not allow. */
function prepare(route: ModelRoute, request: ModelRequest): { messages: readonly PreparedMessage[]; history: ToolHistory } {
  const { tools } = route.options
  const offered = request.tools?.map((tool) => tool.function.name) ?? []
  if (offered.some((name) => !tools?.allowed.includes(name) && name !== tools?.resultTool)) {
    throw new GalleyError("tool_not_allowed", "the engine offers the model a tool outside the allow-list")
  }
  const messages = route.prepareMessages(request.messages)
  const seen = sumToolUse(messages)
  // What was released counts even if the engine leaves it out of its conversation.
  const history = { ...seen, calls: Math.max(route.record.usage.toolCalls, seen.calls) }
  countTools(route, history)
  return { messages, history }
}

/** Books what the conversation shows. Throws `tool_limit_exceeded`, `tool_files_exceeded`, `tool_results_exceeded`. */
function countTools({ options, record }: ModelRoute, history: ToolHistory): void {
  const { limits, usageSoFar: before } = options
  record.usage = {
    toolCalls: history.calls,
    toolFiles: new Set([...record.examined, ...history.files]).size,
    toolResultBytes: Math.max(record.usage.toolResultBytes, history.resultBytes),
  }
  const { toolCalls, toolFiles } = record.usage
  if (before.toolCalls + toolCalls > limits.maxToolCalls) throw new GalleyError("tool_limit_exceeded", `${toolCalls} tool calls`)
  if (before.toolFiles + toolFiles > limits.maxToolFiles) throw new GalleyError("tool_files_exceeded", `${toolFiles} files`)
  if (before.toolResultBytes + history.resultBytes > limits.maxToolResultsBytes) {
    throw new GalleyError("tool_results_exceeded", `${history.resultBytes} bytes of tool results`)
  }
}

/** Books what the provider says, also for an answer that broke off; a refusal by status costs nothing. */
function settle(reservation: Reservation, result: ModelResponse): TokenUsage | null {
  const refused = result.failure === null && (result.status < 200 || result.status > 299)
  const usage = readUsage(result.body) ?? (refused ? { inputTokens: 0, outputTokens: 0 } : null)
  reservation.settle(usage)
  return usage
}

function readModelResponse(result: ModelResponse, request: ModelRequest): ModelAnswer {
  if (result.failure !== null) throw result.failure
  if (result.status < 200 || result.status > 299) {
    const withTools = request.tools !== undefined || request.response_format !== undefined
    throw new GalleyError(refusalCode(result.status, result.body.text, withTools), `the provider answered ${result.status}`)
  }
  return readAnswer(result.body)
}
