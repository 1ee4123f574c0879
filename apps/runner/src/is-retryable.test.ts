import { galleyErrorCodes } from "@galley/contract/errors"
import { expect, test } from "vitest"
import { isOwnFault, isRetryable } from "./is-retryable.ts"

test("another attempt is made for what may pass or is this runner's fault, and never for a bad input, a broken bound or a bad answer", () => {
  expect(galleyErrorCodes.filter(isRetryable)).toEqual([
    "boundary_unavailable",
    "engine_missing",
    "engine_integrity",
    "server_unreachable",
    "checkout_fetch_failed",
    "model_upstream_error",
    "model_rate_limited",
    "model_timeout",
    "engine_start_failed",
    "engine_start_timeout",
    "engine_crashed",
    "github_unavailable",
    "github_rate_limited",
    "internal_error",
  ])
})

test("only a fault of the runner itself makes its slot prove itself again", () => {
  expect(galleyErrorCodes.filter(isOwnFault)).toEqual(["boundary_unavailable", "engine_missing", "engine_integrity"])
})
