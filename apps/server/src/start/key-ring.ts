import { createHash } from "node:crypto"
import { GalleyError } from "@galley/contract/errors"
import type { KeyRing } from "@galley/store/seal"

const sealKey = (key: Buffer) => ({ id: createHash("sha256").update(key).digest("hex").slice(0, 16), key })

/** The master keys as a key ring; a key's id is taken from its hash, so that it needs no configuration of its own. */
export function keyRingOf(masterKeys: readonly Buffer[]): KeyRing {
  const [current, previous] = masterKeys
  if (current === undefined) throw new GalleyError("config_invalid", "a master key is needed")
  return { current: sealKey(current), ...(previous === undefined ? {} : { previous: sealKey(previous) }) }
}
