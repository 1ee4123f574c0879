import { expect, test } from "vitest"
import { noRunnerFor } from "./no-runner.ts"

const now = new Date("2026-11-30T12:00:00Z")
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000)
const job = { kind: "dynamic" as const, runAfter: ago(61) }

function runner(changes: { paused?: boolean; seen?: Date | null; kind?: "diff" | "dynamic"; expiresAt?: string } = {}) {
  const { paused = false, seen = ago(10), kind = "dynamic", expiresAt = "2026-11-30T12:05:00Z" } = changes
  const capability = { kind, engineVersion: "1", boundary: "enforced" as const, checkedAt: "2026-11-30T11:55:00Z", expiresAt }
  return { paused, lastSeenAt: seen, capabilities: [capability] }
}

test("asks nothing before a job is due for a minute", () => {
  expect(noRunnerFor({ ...job, runAfter: ago(59) }, [], now)).toBeNull()
  expect(noRunnerFor({ ...job, runAfter: new Date("2026-11-30T12:05:00Z") }, [], now)).toBeNull()
})

// F16, R-PAGE-6
test("names the kind that no runner offers", () => {
  expect(noRunnerFor(job, [], now)).toBe("No runner offers Dynamic Review.")
  expect(noRunnerFor({ ...job, kind: "diff" }, [runner()], now)).toBe("No runner offers Diff Review.")
})

test("counts a runner only while it is seen, not paused, and its proof holds", () => {
  expect(noRunnerFor(job, [runner()], now)).toBeNull()
  const useless = [
    runner({ paused: true }),
    runner({ seen: ago(120) }),
    runner({ seen: null }),
    runner({ expiresAt: "2026-11-30T12:00:00Z" }),
  ]
  for (const one of useless) expect(noRunnerFor(job, [one], now)).not.toBeNull()
})
