import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto"

const HEADER = /^sha256=([0-9a-f]{64})$/

/**
 * Whether `header` (`X-Hub-Signature-256`) signs exactly these bytes with one of the live secrets. Compares in constant time and tries every
 * secret, so that the time does not tell which one is live. A SHA-1 signature is never looked at.
 *
 * @param body the raw request body, before any decoding: a body serialised again has other bytes
 * @param secrets one or two live webhook secrets (two while one is being rotated), as keys: of a string Node would make one at each call
 *
 * Source: GitHub, "Validating webhook deliveries".
 */
export function verifySignature(body: Uint8Array, header: string | undefined, secrets: readonly KeyObject[]): boolean {
  const match = HEADER.exec(header ?? "")
  if (!match?.[1]) return false
  const given = Buffer.from(match[1], "hex")
  let valid = false
  for (const secret of secrets) {
    const expected = createHmac("sha256", secret).update(body).digest()
    valid = timingSafeEqual(given, expected) || valid
  }
  return valid
}
