import { GalleyError } from "@galley/contract/errors"
import type { FindingState } from "@galley/contract/finding"
import { parseComment, stateDigest } from "@galley/findings/comment-state"
import type { IssueComment } from "@galley/github/summary-comment"

/** What was last published for the pull request, as the database remembers it. */
export type LastPublication = Readonly<{ commentId: number | null; state: FindingState | null }>

export type PriorState = Readonly<{ state: FindingState | null; tampered: boolean }>

function readState(body: string): FindingState | null {
  return parseComment(body)?.state ?? null
}

/**
 * The finding state a run starts from. Pure but for its inputs. The comment is the truth unless it differs from what was last published:
 * people with write access can edit a bot's comment, so then the published snapshot is restored and the change declared.
 *
 * @throws `finding_state_invalid` or `finding_state_too_large` for an unreadable state nobody published from here: history is never reset
 */
export function priorState(comment: IssueComment | null, last: LastPublication): PriorState {
  if (last.state === null) return { state: comment === null ? null : readState(comment.body), tampered: false }
  // A deleted comment is the users' right; what was found is still known.
  if (comment === null) return { state: last.state, tampered: false }
  try {
    const state = readState(comment.body)
    const same = state !== null && stateDigest(state) === stateDigest(last.state)
    return { state: last.state, tampered: !same }
  } catch (error) {
    if (error instanceof GalleyError) return { state: last.state, tampered: true }
    throw error
  }
}
