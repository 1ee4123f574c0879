import { createHmac, hash, type KeyObject } from "node:crypto"

/** What a runner shows with every verb on a lease. */
export interface LeaseProof {
  leaseId: string
  leaseToken: string
  /** The runner that the request authenticated as. */
  runnerId: string
}

/**
 * The token of the lease that answers a request: the same request gets the same token again when its answer was lost, on any server,
 * although only the hash is stored.
 */
export function leaseToken(leaseKey: KeyObject, runnerId: string, requestId: string): string {
  return createHmac("sha256", leaseKey).update(`${runnerId}:${requestId}`).digest("base64url")
}

/** SHA-256, as stored. The token has 256 bits, so a plain hash is enough. */
export function hashToken(token: string): Buffer {
  return hash("sha256", token, "buffer")
}
