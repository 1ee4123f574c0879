import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto"
import { GalleyError } from "@galley/contract/errors"

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** A 32-byte key with the id that is stored beside what it sealed. */
export interface SealKey {
  id: string
  key: Uint8Array
}

/** `current` seals; both open, so that the key can be changed without downtime. */
export interface KeyRing {
  current: SealKey
  previous?: SealKey
}

/** Nonce, ciphertext and tag in one value, and the key that opens it. */
export interface Sealed {
  keyId: string
  sealed: Uint8Array
}

/** What a secret belongs to; bound into the seal, so that a sealed value copied to another row does not open. */
export interface SealContext {
  /** Id of the workspace or the GitHub host. */
  owner: string
  purpose: "app_private_key" | "webhook_secret" | "client_secret" | "model_api_key"
}

/** Seals with AES-256-GCM under the ring's current key. */
export function sealSecret(ring: KeyRing, secret: string, context: SealContext): Sealed {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv("aes-256-gcm", checkedKey(ring.current), nonce)
  cipher.setAAD(additionalData(ring.current.id, context))
  const ciphertext = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()])
  return { keyId: ring.current.id, sealed: Buffer.concat([nonce, ciphertext, cipher.getAuthTag()]) }
}

/** Throws `config_invalid` when the key is not in the ring or the value was altered or belongs to something else. */
export function openSecret(ring: KeyRing, { keyId, sealed }: Sealed, context: SealContext): string {
  const key = [ring.current, ring.previous].find((candidate) => candidate?.id === keyId)
  if (!key) throw new GalleyError("config_invalid", `no key ${keyId} to open the ${context.purpose}`)
  const bytes = Buffer.from(sealed)
  try {
    const decipher = createDecipheriv("aes-256-gcm", checkedKey(key), bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
    decipher.setAAD(additionalData(keyId, context))
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]).toString("utf8")
  } catch (cause) {
    throw new GalleyError("config_invalid", `the ${context.purpose} does not open`, { cause })
  }
}

/** A 32-byte key for one purpose, the same on every server that has the ring. */
export function deriveKey(ring: KeyRing, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", checkedKey(ring.current), "", `galley ${purpose}`, 32))
}

function checkedKey({ id, key }: SealKey): Uint8Array {
  if (key.length !== 32) throw new GalleyError("config_invalid", `key ${id} must have 32 bytes`)
  return key
}

function additionalData(keyId: string, { owner, purpose }: SealContext): Uint8Array {
  return Buffer.from(JSON.stringify([keyId, owner, purpose]))
}
