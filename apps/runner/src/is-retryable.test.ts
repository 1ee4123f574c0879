import type { GalleyErrorCode } from "@galley/contract/errors"
import { expect, test } from "vitest"
import { isOwnFault, isRetryable } from "./is-retryable.ts"

const passes: GalleyErrorCode[] = [
  "checkout_fetch_failed",
  "github_unavailable",
  "model_rate_limited",
  "engine_crashed",
  "boundary_unavailable",
]
const stays: GalleyErrorCode[] = [
  "input_too_large",
  "merge_base_missing",
  "model_usage_missing",
  "model_answer_cut",
  "engine_output_invalid",
]

test.each(passes)("another attempt is made after %s", (code) => {
  expect(isRetryable(code)).toBe(true)
})

test.each(stays)("no second model call is paid for after %s", (code) => {
  expect(isRetryable(code)).toBe(false)
})

test("only a fault of the runner itself makes its slot prove itself again", () => {
  expect([...passes, ...stays].filter(isOwnFault)).toEqual(["boundary_unavailable"])
})
