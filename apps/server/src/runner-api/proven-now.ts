import type { Capability } from "@galley/contract/protocol"

/** The proofs that have not run out; one that has counts for nothing. Pure. */
export const provenNow = (capabilities: readonly Capability[], now: Date): Capability[] =>
  capabilities.filter(({ expiresAt }) => new Date(expiresAt) > now)
