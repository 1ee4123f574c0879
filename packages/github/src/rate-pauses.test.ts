import { GalleyError } from "@galley/contract/errors"
import { expect, test } from "vitest"
import { createRatePauses } from "./rate-pauses.ts"

const limited = new GalleyError("github_rate_limited", "wait", { details: { retryAfterSeconds: 30 } })

// R-COMMENT-7
test("keeps calls of a limited installation back until its time is over, and no other installation's", () => {
  let now = 0
  const pauses = createRatePauses(() => now)
  pauses.note(1, limited)
  now = 10_500
  expect(() => pauses.check(1)).toThrow(expect.objectContaining({ code: "github_rate_limited", details: { retryAfterSeconds: 20 } }))
  expect(() => pauses.check(2)).not.toThrow()
  now = 30_000
  expect(() => pauses.check(1)).not.toThrow()
})

test("begins no pause for another fault", () => {
  const pauses = createRatePauses(() => 0)
  pauses.note(1, new GalleyError("github_unavailable", "down"))
  expect(() => pauses.check(1)).not.toThrow()
})
