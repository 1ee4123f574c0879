import { expect, test } from "vitest"
import { decodePath } from "./decode-path.ts"

test("reads UTF-8 byte for byte and keeps both Unicode forms of a name apart", () => {
  const read = (name: string): string => decodePath(Buffer.from(name).toString("latin1"))
  for (const name of ["plain.ts", "caf\u00e9", "cafe\u0301", "line\nbreak", "\u{1f4a9}"]) expect(read(name)).toBe(name)
})

test("shows bytes that are not UTF-8 in a way no accepted path can have", () => {
  expect(decodePath("name-\xe9.txt")).toBe("name-\\351.txt")
})
