import { GalleyError } from "@galley/contract/errors"
import type { LeaseResult } from "@galley/contract/protocol"
import type { LeaseFacts } from "@galley/store/queue/claim-jobs"
import { assertPublishable } from "../publication/assert-publishable.ts"

type Leased = Pick<LeaseFacts, "fence" | "headSha">

/** @throws `request_invalid` (field `fence`) when a message on a lease names another lease's fence */
export function checkFence(fence: number, leased: Leased): void {
  if (fence !== leased.fence) throw new GalleyError("request_invalid", "the fence is not this lease's", { details: { field: "fence" } })
}

/**
 * Whether a result is about what was leased and could be published. Pure.
 *
 * @throws `request_invalid` (field `fence`), `head_sha_mismatch` (with its field), `comment_too_large`, `comment_invalid`
 */
export function checkResult(result: LeaseResult, leased: Leased): void {
  checkFence(result.fence, leased)
  checkHead(result.reviewedSha, leased, "reviewedSha")
  if (result.outcome === "skipped") return
  checkHead(result.state.last_run?.head_sha, leased, "state.last_run.head_sha")
  assertPublishable(result.comment, result.state)
}

function checkHead(sha: string | undefined, { headSha }: Leased, field: string): void {
  if (sha !== headSha) throw new GalleyError("head_sha_mismatch", "the result is about another head", { details: { field } })
}
