import type { ReviewKind } from "@galley/contract/settings"
import { describe, expect, test } from "vitest"
import { gatewayFailure } from "./gateway-failure.ts"

const verdict = { code: "model_call_limit" as const, message: "spent" }
const code = (kind: ReviewKind, saw: { verdict?: typeof verdict; shimFailures?: string[]; finishReasons?: string[] }) =>
  gatewayFailure(kind, {
    verdict: () => saw.verdict ?? null,
    shimFailures: () => saw.shimFailures ?? [],
    finishReasons: () => saw.finishReasons ?? [],
  })?.code ?? null

describe("gatewayFailure", () => {
  test("finds nothing wrong with answers that ended normally", () => {
    expect(code("diff", { finishReasons: ["stop"] })).toBe(null)
    expect(code("dynamic", { finishReasons: ["tool_calls", "stop"] })).toBe(null)
  })

  test("puts the gateway's verdict first", () => {
    expect(code("diff", { verdict, shimFailures: ["GET /x -> 403"], finishReasons: ["length"] })).toBe("model_call_limit")
  })

  test("fails for a GitHub call that failed", () => {
    expect(code("diff", { shimFailures: ["GET /x -> 500"], finishReasons: ["stop"] })).toBe("github_shim_refused")
  })

  // R-GATE-8
  test.each(["length", "content_filter", "", "unknown"])("fails for an answer that ended with %o, wherever it stands", (reason) => {
    expect(code("dynamic", { finishReasons: ["tool_calls", reason, "tool_calls"] })).toBe("model_answer_cut")
    expect(code("diff", { finishReasons: [reason] })).toBe("model_answer_cut")
  })

  test("takes a tool call in a Diff Review for no answer", () => {
    expect(code("diff", { finishReasons: ["tool_calls"] })).toBe("model_answer_cut")
  })
})
