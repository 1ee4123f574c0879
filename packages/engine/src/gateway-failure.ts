import { GalleyError } from "@galley/contract/errors"
import type { ReviewKind } from "@galley/contract/settings"
import type { Gateway } from "@galley/gateway/gateway"

/** How a model answer ends when nothing was cut off: PR-Agent's is plain text, OpenCode's may call tools. */
const normalEnds: Readonly<Record<ReviewKind, ReadonlySet<string>>> = {
  diff: new Set(["stop"]),
  dynamic: new Set(["stop", "tool_calls"]),
}

/**
 * What the gateway saw go wrong, or null. It explains whatever the engine reports, and a result that was built on it is none: PR-Agent
 * takes half an answer for a whole review.
 */
export function gatewayFailure(kind: ReviewKind, gateway: Pick<Gateway, "verdict" | "shimFailures" | "finishReasons">): GalleyError | null {
  const verdict = gateway.verdict()
  if (verdict !== null) return new GalleyError(verdict.code, verdict.message)
  if (gateway.shimFailures().length > 0)
    return new GalleyError("github_shim_refused", "the engine asked GitHub for what a job does not have")
  const cut = gateway.finishReasons().find((reason) => !normalEnds[kind].has(reason))
  if (cut !== undefined) return new GalleyError("model_answer_cut", "a model answer did not end normally")
  return null
}
