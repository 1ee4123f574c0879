import type { Capability } from "@galley/contract/protocol"
import { LAST_STORABLE_MS } from "@galley/contract/storable-text"

/**
 * Moves a runner's proofs from its clock, which may be wrong, to the database's. Pure.
 *
 * @param sentAt the `Date` header of the request: the runner's clock; without it the runner is taken to have the right time
 */
export function shiftProofs(capabilities: readonly Capability[], sentAt: string | undefined, now: Date): Capability[] {
  const sentMs = Date.parse(sentAt ?? "")
  const aheadMs = Number.isNaN(sentMs) ? 0 : sentMs - now.getTime()
  const moved = (time: string) => new Date(Math.min(Math.max(Date.parse(time) - aheadMs, 0), LAST_STORABLE_MS)).toISOString()
  return capabilities.map((proof) => ({ ...proof, checkedAt: moved(proof.checkedAt), expiresAt: moved(proof.expiresAt) }))
}
