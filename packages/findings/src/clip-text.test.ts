import { expect, test } from "vitest"
import { clipText } from "./clip-text.ts"

test("a text that fits is left alone, a longer one is cut between characters and marked", () => {
  expect(clipText("abcdef", 6)).toBe("abcdef")
  expect(clipText("abcdefg", 6)).toBe("abc…")
  expect(clipText("🔒🔒🔒", 9)).toBe("🔒…")
  expect(clipText("é".repeat(10), 3)).toBe("…")
})

test("cutting twice is the same as cutting once", () => {
  const once = clipText("ab🔒".repeat(20), 33)
  expect(Buffer.byteLength(once)).toBeLessThanOrEqual(33)
  expect(clipText(once, 33)).toBe(once)
})
