import { GalleyError, type GalleyErrorCode } from "@galley/contract/errors"
import { RequestError } from "@octokit/request-error"

/** What was being done, since the same status means different things. */
export type GitHubDuty = "token" | "read" | "write"

/** GitHub's own bound when it names no time: secondary limits ask for at least a minute. */
const DEFAULT_RETRY_SECONDS = 60

/** Seconds to wait before the next request, from `retry-after` or `x-ratelimit-reset`; null when the answer is no rate limit. Pure. */
export function retryAfterSeconds(error: RequestError, nowMs: number): number | null {
  const headers = error.response?.headers ?? {}
  const limited = error.status === 429 || (error.status === 403 && /rate limit|abuse/i.test(error.message))
  const retryAfter = Number(headers["retry-after"])
  if (Number.isFinite(retryAfter) && retryAfter > 0 && (error.status === 403 || error.status === 429)) return Math.ceil(retryAfter)
  if (headers["x-ratelimit-remaining"] === "0" && (error.status === 403 || error.status === 429)) {
    return Math.max(1, Math.ceil(Number(headers["x-ratelimit-reset"]) - nowMs / 1000)) || DEFAULT_RETRY_SECONDS
  }
  return limited ? DEFAULT_RETRY_SECONDS : null
}

function codeOf(error: RequestError, duty: GitHubDuty): GalleyErrorCode {
  if (/suspended/i.test(error.message) && error.status === 403) return "installation_suspended"
  if (error.status === 401) return "github_unauthorized"
  if (error.status >= 500 || error.status === 408) return "github_unavailable"
  if (duty === "token") return error.status === 404 ? "installation_gone" : error.status === 422 ? "repository_gone" : "github_unauthorized"
  if (error.status === 404 || error.status === 410) return duty === "write" ? "publish_gone" : "not_found"
  if (error.status === 403) return duty === "write" ? (/locked/i.test(error.message) ? "publish_locked" : "publish_forbidden") : "forbidden"
  if (error.status === 422 && duty === "write") return /locked/i.test(error.message) ? "publish_locked" : "comment_invalid"
  return "github_unavailable"
}

/**
 * Gives a failed GitHub call its stable code: `github_rate_limited` (details `retryAfterSeconds`), `installation_suspended`,
 * `installation_gone`, `repository_gone`, `github_unauthorized`, `publish_gone`, `publish_forbidden`, `publish_locked`, `comment_invalid`,
 * `not_found`, `forbidden` or `github_unavailable` (also for a connection that broke). The message never carries headers or bodies.
 */
export function githubFault(error: unknown, duty: GitHubDuty, nowMs = Date.now()): GalleyError {
  if (error instanceof GalleyError) return error
  if (!(error instanceof RequestError)) return new GalleyError("github_unavailable", "GitHub could not be reached", { cause: error })
  const wait = retryAfterSeconds(error, nowMs)
  if (wait !== null) {
    return new GalleyError("github_rate_limited", "GitHub asks to wait", {
      cause: error,
      details: { retryAfterSeconds: wait, status: error.status },
    })
  }
  return new GalleyError(codeOf(error, duty), `GitHub answered ${error.status}`, { cause: error, details: { status: error.status } })
}
