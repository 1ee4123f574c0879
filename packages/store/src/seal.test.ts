import { randomBytes } from "node:crypto"
import { expect, test } from "vitest"
import { deriveKey, openSecret, type SealContext, sealSecret } from "./seal.ts"

const key = (id: string) => ({ id, key: randomBytes(32) })
const context: SealContext = { owner: "workspace-1", purpose: "model_api_key" }
const closed = expect.objectContaining({ code: "config_invalid" })

test("opens what it sealed, whatever the text", () => {
  const ring = { current: key("a") }
  for (const secret of ["", "key", "schlüssel 🔑", "x".repeat(10_000)]) {
    expect(openSecret(ring, sealSecret(ring, secret, context), context)).toBe(secret)
  }
})

test("seals the same secret differently each time", () => {
  const ring = { current: key("a") }
  expect(sealSecret(ring, "key", context).sealed).not.toEqual(sealSecret(ring, "key", context).sealed)
})

// R-DATA-1
test("does not open a value for another owner or purpose", () => {
  const ring = { current: key("a") }
  const sealed = sealSecret(ring, "key", context)
  expect(() => openSecret(ring, sealed, { ...context, owner: "workspace-2" })).toThrow(closed)
  expect(() => openSecret(ring, sealed, { ...context, purpose: "webhook_secret" })).toThrow(closed)
})

test("does not open a value that was altered in any byte or cut", () => {
  const ring = { current: key("a") }
  const { keyId, sealed } = sealSecret(ring, "key", context)
  for (let index = 0; index < sealed.length; index++) {
    const altered = sealed.map((byte, i) => (i === index ? byte ^ 1 : byte))
    expect(() => openSecret(ring, { keyId, sealed: altered }, context)).toThrow(closed)
  }
  for (const length of [0, 12, 20, sealed.length - 1]) {
    expect(() => openSecret(ring, { keyId, sealed: sealed.subarray(0, length) }, context)).toThrow(closed)
  }
})

// F49, R-DATA-1
test("opens values of both live keys during a rotation, and seals with the new one", () => {
  const [old, fresh] = [key("old"), key("new")]
  const sealed = sealSecret({ current: old }, "key", context)
  const ring = { current: fresh, previous: old }

  expect(openSecret(ring, sealed, context)).toBe("key")
  expect(sealSecret(ring, "key", context).keyId).toBe("new")
  expect(() => openSecret({ current: fresh }, sealed, context)).toThrow(closed)
})

test("derives the same key on every server, and another for each purpose", () => {
  const ring = { current: key("a") }
  expect(deriveKey(ring, "lease token")).toEqual(deriveKey(ring, "lease token"))
  expect(deriveKey(ring, "lease token")).not.toEqual(deriveKey(ring, "other"))
})

test("refuses a key that has not 32 bytes", () => {
  expect(() => sealSecret({ current: { id: "a", key: randomBytes(16) } }, "key", context)).toThrow(closed)
})
