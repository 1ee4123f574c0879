import type { GalleyErrorCode } from "@galley/contract/errors"

/** Git has no machine-readable reasons: these are its messages under LC_ALL=C, most telling first. */
const MESSAGES: readonly (readonly [RegExp, GalleyErrorCode])[] = [
  [
    /no space left on device|file too large|disk quota exceeded|out of memory|cannot allocate memory|malloc failed/i,
    "checkout_quota_exceeded",
  ],
  [/died of signal (?:9|24|25)\b/i, "checkout_quota_exceeded"],
  [/not our ref|unadvertised object|couldn't find remote ref|no such remote ref/i, "checkout_ref_unavailable"],
  [/returned error: 40[134]\b|authentication failed|could not read (?:username|password)/i, "github_unauthorized"],
  [/^fatal: repository '[^']*' not found/im, "github_unauthorized"],
  [
    /unable to access|rpc failed|early eof|hung up unexpectedly|could not resolve|failed to connect|connection|timed out|too slow|returned error/i,
    "checkout_fetch_failed",
  ],
]

/**
 * Why a fetch ended with a status other than 0. Pure.
 *
 * @param stderr what git said (C locale)
 * @returns `checkout_objects_refused` when git gave none of the known reasons: it did not accept what it was sent
 */
export function classifyFetchFailure(stderr: string): GalleyErrorCode {
  return MESSAGES.find(([pattern]) => pattern.test(stderr))?.[1] ?? "checkout_objects_refused"
}
