import { galleyErrorCodes } from "@galley/contract/errors"
import { expect, test } from "vitest"
import { cost, duration, explain, plural, timeAgo } from "./words.ts"

// R-PAGE-6
test("explains every code in sentences, and shows one of another version as it is", () => {
  expect(explain("draft")).toMatch(/^The pull request is a draft/)
  expect(explain("code_of_tomorrow")).toBe("code_of_tomorrow")
  expect(explain("constructor")).toBe("constructor")
  for (const code of galleyErrorCodes) expect(explain(code)).toMatch(/^[A-Z].*\.$/)
})

test("tells times by their distance", () => {
  const now = new Date("2026-11-30T12:00:00Z")
  const ago = (ms: number) => timeAgo(new Date(now.getTime() - ms), now)
  expect([ago(-5_000), ago(59_000), ago(60_000), ago(3 * 3_600_000), ago(48 * 3_600_000)]).toEqual([
    "just now",
    "just now",
    "1 minute ago",
    "3 hours ago",
    "2 days ago",
  ])
})

test("tells durations, counts and costs, and never makes an unknown cost a number", () => {
  expect([duration(12), duration(12_340), duration(125_000)]).toEqual(["12 ms", "12.3 s", "2 min 5 s"])
  expect([plural(1, "finding"), plural(1_200, "finding")]).toEqual(["1 finding", "1,200 findings"])
  expect([cost(null), cost(0.0123)]).toEqual(["unknown", "$0.0123"])
})
