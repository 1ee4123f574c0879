import { expect, test } from "vitest"
import { shiftProofs } from "./shift-proofs.ts"

const now = new Date("2026-11-30T12:00:00.000Z")
const proof = (checkedAt: string, expiresAt: string) => ({
  kind: "diff" as const,
  engineVersion: "1",
  boundary: "enforced" as const,
  checkedAt,
  expiresAt,
})

// F21
test.each([
  ["an hour late", "Mon, 30 Nov 2026 11:00:00 GMT", proof("2026-11-30T10:55:00.000Z", "2026-11-30T11:25:00.000Z")],
  ["right", "Mon, 30 Nov 2026 12:00:00 GMT", proof("2026-11-30T11:55:00.000Z", "2026-11-30T12:25:00.000Z")],
  ["unknown", undefined, proof("2026-11-30T11:55:00.000Z", "2026-11-30T12:25:00.000Z")],
  ["nonsense", "yesterday", proof("2026-11-30T11:55:00.000Z", "2026-11-30T12:25:00.000Z")],
  ["an hour early", "Mon, 30 Nov 2026 13:00:00 GMT", proof("2026-11-30T12:55:00.000Z", "2026-11-30T13:25:00.000Z")],
])("gives a proof of a runner whose clock is %s the times of the database", (_, sentAt, told) => {
  expect(shiftProofs([told], sentAt, now)).toEqual([proof("2026-11-30T11:55:00.000Z", "2026-11-30T12:25:00.000Z")])
})

test("keeps the times of a proof within four-digit years, whatever the runner says", () => {
  const [moved] = shiftProofs([proof("0000-01-01T00:00:00Z", "9999-12-31T23:59:59Z")], "Thu, 01 Jan 1970 00:00:00 GMT", now)
  expect(moved).toMatchObject({ checkedAt: "1970-01-01T00:00:00.000Z", expiresAt: "9999-12-31T23:59:59.000Z" })
})
