import { noUsage } from "@galley/contract/usage"
import { expect, test } from "vitest"
import { addUsage } from "./add-usage.ts"

const run = { ...noUsage, modelCalls: 2, inputTokens: 100, costUsd: 0.25 }

test("adds up what several attempts at a job spent", () => {
  expect(addUsage([run, { ...run, outputTokens: 5 }])).toMatchObject({ modelCalls: 4, inputTokens: 200, outputTokens: 5, costUsd: 0.5 })
})

test("gives no cost when one attempt with model calls has no known price", () => {
  expect(addUsage([run, { ...run, costUsd: null }]).costUsd).toBeNull()
  expect(addUsage([run, noUsage]).costUsd).toBe(0.25)
})

test("is nothing without attempts, and copes with a run that never reported", () => {
  expect(addUsage([])).toEqual(noUsage)
  expect(addUsage([{}])).toEqual(noUsage)
})
