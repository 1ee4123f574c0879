import { RequestError } from "@octokit/request-error"
import { expect, test } from "vitest"
import { createGitHubClock } from "./github-clock.ts"

const HOUR_MS = 3_600_000
const machineMs = Date.parse("2026-11-30T12:00:00Z")

const refused = (status: number, date?: string) => {
  const headers = date === undefined ? {} : { date }
  return new RequestError("no", status, {
    request: { method: "GET", url: "http://127.0.0.1/", headers: {} },
    response: { status, url: "http://127.0.0.1/", headers, data: {} },
  })
}

// F22
test.each([
  ["behind", "Mon, 30 Nov 2026 13:00:00 GMT", HOUR_MS],
  ["ahead", "Mon, 30 Nov 2026 11:00:00 GMT", -HOUR_MS],
])("takes GitHub's time when this machine is an hour %s, and says so once", (_, date, aheadMs) => {
  const clock = createGitHubClock(() => machineMs)
  expect(clock.correct(refused(401, date))).toBe(true)
  expect(clock.nowMs()).toBe(machineMs + aheadMs)
  expect(clock.correct(refused(401, date))).toBe(false)
})

test.each([
  ["a refusal at the right time", refused(401, "Mon, 30 Nov 2026 12:00:20 GMT")],
  ["another status", refused(403, "Mon, 30 Nov 2026 13:00:00 GMT")],
  ["an answer without a date", refused(401)],
  ["a broken connection", new TypeError("fetch failed")],
])("is not moved by %s", (_, fault) => {
  const clock = createGitHubClock(() => machineMs)
  expect(clock.correct(fault)).toBe(false)
  expect(clock.nowMs()).toBe(machineMs)
})
