import { RequestError } from "@octokit/request-error"
import { expect, test } from "vitest"
import { type GitHubDuty, githubFault } from "./github-fault.ts"

const NOW_MS = 1_800_000_000_000

const answer = (status: number, message: string, headers: Record<string, string> = {}) =>
  new RequestError(message, status, {
    request: { method: "GET", url: "http://127.0.0.1/", headers: {} },
    response: { status, url: "http://127.0.0.1/", headers, data: {} },
  })

const cases: [string, RequestError, GitHubDuty, string][] = [
  ["a bad token", answer(401, "Bad credentials"), "read", "github_unauthorized"],
  ["a suspended installation", answer(403, "This installation has been suspended"), "token", "installation_suspended"],
  ["a removed installation", answer(404, "Not Found"), "token", "installation_gone"],
  ["a repository outside the installation", answer(422, "not accessible"), "token", "repository_gone"],
  ["a missing thing", answer(404, "Not Found"), "read", "not_found"],
  ["a deleted comment", answer(404, "Not Found"), "write", "publish_gone"],
  ["a missing permission", answer(403, "Resource not accessible by integration"), "write", "publish_forbidden"],
  ["a locked conversation", answer(403, "Unable to create comment because issue is locked"), "write", "publish_locked"],
  ["a refused body", answer(422, "body is too long"), "write", "comment_invalid"],
  ["a server fault", answer(502, "Bad Gateway"), "write", "github_unavailable"],
  ["a secondary limit without a time", answer(403, "You have exceeded a secondary rate limit"), "write", "github_rate_limited"],
]

test.each(cases)("gives %s its own code", (_, error, duty, code) => {
  expect(githubFault(error, duty, NOW_MS).code).toBe(code)
})

test("calls a broken connection unavailable", () => {
  expect(githubFault(new TypeError("fetch failed"), "read").code).toBe("github_unavailable")
})

// R-COMMENT-7
test("waits as long as retry-after says", () => {
  const fault = githubFault(answer(403, "secondary rate limit", { "retry-after": "17" }), "write", NOW_MS)
  expect(fault).toMatchObject({ code: "github_rate_limited", details: { retryAfterSeconds: 17 } })
})

// R-COMMENT-7
test("waits until the primary limit is reset", () => {
  const headers = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(NOW_MS / 1000 + 90) }
  expect(githubFault(answer(403, "API rate limit exceeded", headers), "read", NOW_MS).details).toMatchObject({ retryAfterSeconds: 90 })
})

test("keeps a fault that already has a code", () => {
  const fault = githubFault(answer(401, "Bad credentials"), "read")
  expect(githubFault(fault, "write")).toBe(fault)
})
