import { defaultJobLimits } from "@galley/contract/limits"
import { noUsage } from "@galley/contract/usage"
import { describe, expect, test } from "vitest"
import type { EngineJob } from "./engine.ts"
import { tokenRoom } from "./token-room.ts"

const room = (contextTokens: number, outputTokens: number, spent = 0) => {
  const lease = { usageSoFar: { ...noUsage, inputTokens: spent } } as EngineJob["lease"]
  return tokenRoom({ contextTokens, outputTokens, limits: { ...defaultJobLimits, maxModelTokens: 120_000 }, lease })
}

describe("tokenRoom", () => {
  test("is the model's window when the budget is larger", () => {
    expect(room(64_000, 8_000)).toEqual({ contextTokens: 64_000, outputTokens: 8_000 })
  })

  test("is what earlier attempts left of the budget when the window is larger", () => {
    expect(room(1_000_000, 8_000, 90_000)).toEqual({ contextTokens: 30_000, outputTokens: 7_500 })
  })

  test("keeps three quarters for the question, however long a model may answer", () => {
    expect(room(1_000_000, 384_000).outputTokens).toBe(30_000)
  })

  test("stays positive when nothing is left, so that the gateway says why", () => {
    expect(room(64_000, 8_000, 200_000)).toEqual({ contextTokens: 1, outputTokens: 1 })
  })
})
