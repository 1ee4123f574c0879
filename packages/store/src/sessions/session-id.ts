import { createHash } from "node:crypto"

/** SHA-256, as stored: a copy of the database opens no session. */
export function hashSessionId(id: string): Buffer {
  return createHash("sha256").update(id).digest()
}
