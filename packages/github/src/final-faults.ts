import type { GalleyErrorCode } from "@galley/contract/errors"

/** Faults of GitHub that no retry mends: the task ends with them instead of asking again for a day. */
export const finalFaults: ReadonlySet<GalleyErrorCode> = new Set([
  "not_found",
  "forbidden",
  "publish_forbidden",
  "publish_gone",
  "publish_locked",
  "publish_stale",
  "comment_invalid",
  "comment_too_large",
  "installation_gone",
  "installation_suspended",
  "repository_gone",
])
