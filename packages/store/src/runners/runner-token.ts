import { createHash, randomBytes } from "node:crypto"

/** How long a runner's old token works beside its new one, unless a person says otherwise: 24 hours. */
export const TOKEN_OVERLAP_MS = 86_400_000

/** 256 random bits with a prefix that secret scanners can recognise. */
export function createRunnerToken(): string {
  return `galley_runner_${randomBytes(32).toString("base64url")}`
}

/** SHA-256, as stored. */
export function hashRunnerToken(token: string): Buffer {
  return createHash("sha256").update(token).digest()
}
