import { GalleyError } from "@galley/contract/errors"
import type { FindingState } from "@galley/contract/finding"
import { MAX_COMMENT_BYTES, MAX_COMMENT_CHARACTERS } from "@galley/contract/limits"
import { parseComment, stateDigest } from "@galley/findings/comment-state"

/**
 * What cannot be read back from the comment would lose the history with the next review.
 *
 * @throws `comment_too_large` for more than GitHub keeps, `comment_invalid` when the comment does not carry exactly this state
 */
export function assertPublishable(comment: string, state: FindingState): void {
  if (comment.length > MAX_COMMENT_CHARACTERS || Buffer.byteLength(comment) > MAX_COMMENT_BYTES) {
    throw new GalleyError("comment_too_large", "the comment is larger than GitHub keeps")
  }
  if (!carries(comment, state)) throw new GalleyError("comment_invalid", "the comment does not carry its own state")
}

function carries(comment: string, state: FindingState): boolean {
  try {
    const parsed = parseComment(comment)
    return parsed !== null && stateDigest(parsed.state) === stateDigest(state)
  } catch (cause) {
    throw new GalleyError("comment_invalid", "the state in the comment cannot be read", { cause })
  }
}
