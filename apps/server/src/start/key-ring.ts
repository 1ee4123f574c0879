import { createHash } from "node:crypto"
import { GalleyError } from "@galley/contract/errors"
import type { Store } from "@galley/store/database"
import { findUnknownKeys } from "@galley/store/find-unknown-keys"
import type { KeyRing } from "@galley/store/seal"

const sealKey = (key: Buffer) => ({ id: createHash("sha256").update(key).digest("hex").slice(0, 16), key })

/** The master keys as a key ring; a key's id is taken from its hash, so that it needs no configuration of its own. */
export function keyRingOf(masterKeys: readonly Buffer[]): KeyRing {
  const [current, previous] = masterKeys
  if (current === undefined) throw new GalleyError("config_invalid", "a master key is needed")
  return { current: sealKey(current), ...(previous === undefined ? {} : { previous: sealKey(previous) }) }
}

/** A start with a wrong key would fail later, at the first secret it cannot open. @throws `config_invalid` with the ids of the missing keys */
export async function assertKeysKnown(store: Store): Promise<void> {
  const unknown = (await findUnknownKeys(store)).join(", ")
  if (unknown === "") return
  throw new GalleyError(
    "config_invalid",
    `GALLEY_MASTER_KEY: the database holds secrets that key ${unknown} sealed, and this is key ${store.keyRing.current.id}; give that key, or give it as GALLEY_MASTER_KEY_PREVIOUS to replace it`,
    { details: { unknown } },
  )
}
