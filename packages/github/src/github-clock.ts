import { RequestError } from "@octokit/request-error"

/**
 * GitHub forgives the clock of an App about a minute. Within half of that the clock is not why a token was refused, also when the answer was
 * long on its way.
 */
const FORGIVEN_MS = 30_000

/** GitHub's clock: this machine's one, until GitHub shows that it is wrong. */
export type GitHubClock = Readonly<{
  nowMs(): number
  /**
   * Sets the clock by an answer that refused a token: the App signs its tokens with a time.
   *
   * @returns whether the clock was wrong, so that another try is worth it
   */
  correct(fault: unknown): boolean
}>

/** @param machineMs this machine's clock, in milliseconds since 1970 */
export function createGitHubClock(machineMs: () => number = Date.now): GitHubClock {
  let aheadMs = 0
  const nowMs = () => machineMs() + aheadMs
  return {
    nowMs,
    correct(fault) {
      if (!(fault instanceof RequestError) || fault.status !== 401) return false
      const toldMs = Date.parse(fault.response?.headers.date ?? "")
      if (Number.isNaN(toldMs) || Math.abs(toldMs - nowMs()) <= FORGIVEN_MS) return false
      aheadMs = toldMs - machineMs()
      return true
    },
  }
}
