import { createHmac, createSecretKey } from "node:crypto"
import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { verifySignature } from "./verify-signature.ts"

const secret = "webhook secret of the test"
const sign = (body: string | Uint8Array, algorithm = "sha256", as = secret) =>
  `${algorithm}=${createHmac(algorithm, as).update(body).digest("hex")}`
const key = (text: string) => createSecretKey(text, "utf8")
const bytes = (text: string) => new TextEncoder().encode(text)

test("accepts the vector that GitHub documents", () => {
  const vector = JSON.parse(readFileSync(new URL("./fixtures/signature-vector.json", import.meta.url), "utf8"))
  expect(verifySignature(bytes(vector.payload), vector.signature, [key(vector.secret)])).toBe(true)
})

test("signs the bytes of an emoji, not its decoded text", () => {
  const body = bytes(JSON.stringify({ title: "fix café 🚀" }))
  expect(verifySignature(body, sign(body), [key(secret)])).toBe(true)
})

// F48
test("accepts either of two live secrets while one is being rotated", () => {
  expect(verifySignature(bytes("{}"), sign("{}"), [key("new secret"), key(secret)])).toBe(true)
  expect(verifySignature(bytes("{}"), sign("{}"), [key(secret), key("new secret")])).toBe(true)
})

const refused: Record<string, string | undefined> = {
  "no header": undefined,
  "an empty header": "",
  "SHA-1 only": sign("{}", "sha1"),
  "a SHA-1 digest in the SHA-256 header": sign("{}", "sha1").replace("sha1=", "sha256="),
  "a wrong secret": sign("{}", "sha256", "another secret"),
  "other bytes": sign("{ }"),
  "an upper-case digest": sign("{}").toUpperCase().replace("SHA256", "sha256"),
  "a truncated digest": sign("{}").slice(0, -1),
  "a digest that is not ASCII": `sha256=${"é".repeat(64)}`,
  "a digest with a line after it": `${sign("{}")}\n`,
}

// R-INTAKE-1, B1, B2
test.each(Object.entries(refused))("refuses %s", (_, header) => {
  expect(verifySignature(bytes("{}"), header, [key(secret)])).toBe(false)
})

test("refuses everything when no secret is live", () => {
  expect(verifySignature(bytes("{}"), sign("{}"), [])).toBe(false)
})
