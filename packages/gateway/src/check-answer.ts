import { GalleyError } from "@galley/contract/errors"
import type { JobLimits } from "@galley/contract/limits"
import type { Usage } from "@galley/contract/usage"
import { z } from "zod"
import type { GatewayOptions } from "./gateway.ts"
import type { ModelRequest } from "./model-request.ts"
import { parseJson } from "./parse-json.ts"
import type { ModelAnswer, ToolCall } from "./read-answer.ts"
import { nowhereInside, relativeInside } from "./tool-paths.ts"
import type { ToolHistory } from "./tool-results.ts"

/** Arguments that name a place in the tree: `filePath` of read, `path` of grep, glob and the direct engine's tools. */
const pathArguments = ["filePath", "path"] as const

const Arguments = z.record(z.string(), z.unknown())

/** Finish reasons that cut an answer. */
const cutReasons: ReadonlySet<string> = new Set(["length", "content_filter"])

/** `answer` as it may be released; `misled`: the tool of each call whose path led outside the export and was replaced. */
export type CheckedAnswer = Readonly<{ answer: ModelAnswer; misled: readonly string[] }>

/**
 * Checks the tool calls of an answer before the engine can run one: arguments are written anew, so that no second parser can read them in
 * another way. A path outside the export never reaches the engine: a model that only guessed is told that there is nothing.
 *
 * Throws `tool_not_allowed`, `tool_limit_exceeded`, `tool_files_exceeded`; when a tool call was demanded and none came, `model_answer_cut`
 * for a cut answer, else `dynamic_model_features_unsupported`.
 *
 * @param before usage of earlier attempts
 */
export function checkAnswer(
  answer: ModelAnswer,
  request: ModelRequest,
  tools: GatewayOptions["tools"],
  history: ToolHistory,
  limits: JobLimits,
  before: Usage,
): CheckedAnswer {
  const demanded = request.tool_choice === "required" || typeof request.tool_choice === "object"
  if (demanded && answer.toolCalls.length === 0) {
    if (cutReasons.has(answer.finishReason)) throw new GalleyError("model_answer_cut", `the answer ended with ${answer.finishReason}`)
    throw new GalleyError("dynamic_model_features_unsupported", "the model answered without the tool call that was required")
  }
  if (answer.toolCalls.length === 0) return { answer, misled: [] }
  if (tools === null) throw new GalleyError("tool_not_allowed", "the model called a tool in a review without tools")
  const checked = answer.toolCalls.map((call) => readCall(call, tools))
  const activity = checked.filter(({ call }) => call.name !== tools.resultTool)
  const files = new Set([...history.files, ...activity.flatMap(({ reads }) => reads)])
  const calls = before.toolCalls + history.calls + activity.length
  if (calls > limits.maxToolCalls) throw new GalleyError("tool_limit_exceeded", `${calls} tool calls are asked for`)
  if (before.toolFiles + files.size > limits.maxToolFiles) throw new GalleyError("tool_files_exceeded", `${files.size} files are asked for`)
  return {
    answer: { ...answer, toolCalls: checked.map(({ call }) => call) },
    misled: checked.flatMap(({ call, misled }) => (misled ? [call.name] : [])),
  }
}

type CheckedCall = Readonly<{ call: ToolCall; reads: readonly string[]; misled: boolean }>

function readCall(call: ToolCall, tools: NonNullable<GatewayOptions["tools"]>): CheckedCall {
  if (call.name === tools.resultTool) return { call, reads: [], misled: false }
  if (!tools.allowed.includes(call.name)) throw new GalleyError("tool_not_allowed", "the model called a tool it was not offered")
  const parsed = Arguments.safeParse(parseJson(call.arguments))
  // Arguments that are no JSON object are released as they are: the engine's parser refuses them too and runs nothing.
  if (!parsed.success) return { call, reads: [], misled: false }
  const values = parsed.data
  const reads: string[] = []
  let misled = false
  for (const name of pathArguments) {
    const value = values[name]
    if (typeof value !== "string") continue
    const inside = relativeInside(tools.treePath, value)
    if (inside === null) {
      values[name] = nowhereInside(tools.treePath)
      misled = true
    } else if (name === "filePath") reads.push(inside)
  }
  return { call: { ...call, arguments: JSON.stringify(values) }, reads, misled }
}
