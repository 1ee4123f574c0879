import { randomUUID } from "node:crypto"
import type { LeaseRequest } from "@galley/contract/protocol"
import type { ReviewKind } from "@galley/contract/settings"

const LONG_POLL_MS = 25_000
const PROOF_MS = 120_000

/** A poll of a runner that does these kinds without an engine, so that nothing is proved by it. */
export function leaseRequest(runnerName: string, kinds: readonly ReviewKind[]): LeaseRequest {
  const proof = { engineVersion: "1", boundary: "demo" as const, checkedAt: isoAfter(0), expiresAt: isoAfter(PROOF_MS) }
  return {
    requestId: randomUUID(),
    runnerName,
    runnerVersion: "0.1.0",
    capabilities: kinds.map((kind) => ({ kind, ...proof })),
    freeSlots: 1,
    waitMs: LONG_POLL_MS,
  }
}

/** ISO time in UTC so many milliseconds from now. */
export function isoAfter(ms: number): string {
  return new Date(Date.now() + ms).toISOString()
}
