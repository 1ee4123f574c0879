import type { ChatRequest } from "./chat-request.ts"
import { isYamlReview, reviewAsYaml } from "./review-as-yaml.ts"
import { reviewWithTools } from "./review-with-tools.ts"
import { sampleValue } from "./sample-value.ts"
import type { Step } from "./step.ts"

/**
 * The script for any repository and both engines. Deterministic and without memory: the same request always gets the same step.
 * Beyond reviews it does what a capable model would: a required tool is called, a JSON schema is filled in, a question gets an answer.
 */
export function genericScript(request: ChatRequest): Step {
  const tools = request.tools ?? []
  if (tools.some((tool) => tool.function.name === "StructuredOutput") && request.tool_choice !== "none") return reviewWithTools(request)
  if (isYamlReview(request)) return reviewAsYaml(request)

  const choice = request.tool_choice
  const wanted =
    typeof choice === "object" ? tools.find((tool) => tool.function.name === choice.function.name) : choice === "required" && tools[0]
  if (wanted) return { calls: [{ name: wanted.function.name, args: JSON.stringify(sampleValue(wanted.function.parameters)) }] }

  const format = request.response_format?.json_schema
  return { say: format ? JSON.stringify(sampleValue(format.schema)) : "This is the scripted model." }
}
