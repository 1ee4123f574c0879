import fc from "fast-check"
import { expect, test } from "vitest"
import { parseHunks } from "./parse-hunks.ts"

test("counts added lines and names their place in the new file", () => {
  const patch = "@@ -1,2 +1,4 @@ heading\n a\n+b\n+c\n d\n@@ -10 +12,2 @@\n x\n+y\n"
  expect(parseHunks(patch)).toEqual({
    changedLines: [
      { start: 2, end: 3 },
      { start: 13, end: 13 },
    ],
    additions: 3,
    deletions: 0,
  })
})

test("names only the new lines of a replacement", () => {
  expect(parseHunks("@@ -1,3 +1,3 @@\n a\n-b\n+c\n d\n").changedLines).toEqual([{ start: 2, end: 2 }])
})

test("names the lines around a pure deletion", () => {
  expect(parseHunks("@@ -1,4 +1,2 @@\n a\n-b\n-c\n d\n").changedLines).toEqual([{ start: 1, end: 2 }])
  expect(parseHunks("@@ -1,2 +1 @@\n-a\n b\n").changedLines).toEqual([{ start: 1, end: 1 }])
  expect(parseHunks("@@ -4,2 +4 @@\n a\n-b\n").changedLines).toEqual([{ start: 4, end: 4 }])
})

test("names no line of a file that is gone or empty", () => {
  expect(parseHunks("@@ -1,2 +0,0 @@\n-a\n-b\n")).toEqual({ changedLines: [], additions: 0, deletions: 2 })
})

test("is not fooled by content that looks like a header or a missing newline", () => {
  const patch = "@@ -1,2 +1,3 @@\n a\n+++ b/x\n+@@ -1 +9 @@\n---- a/x\n\\ No newline at end of file\n"
  expect(parseHunks(patch)).toEqual({ changedLines: [{ start: 2, end: 3 }], additions: 2, deletions: 1 })
})

test("covers exactly the added lines and the borders of gaps", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(" ", "-", "+"), { minLength: 1, maxLength: 30 }),
      fc.integer({ min: 1, max: 50 }),
      (raw, start) => {
        const marks = raw
          .join("")
          .replace(/[-+]+/g, (run) => [...run].sort((one, other) => other.charCodeAt(0) - one.charCodeAt(0)).join("")) // git removes before it adds
        const parsed = parseHunks(`@@ -1 +${start},9 @@\n${[...marks].map((mark) => `${mark}x\n`).join("")}`)
        const expected = new Set<number>()
        const kept = [...marks].filter((mark) => mark !== "-").length
        let line = start
        for (const [index, mark] of [...marks].entries()) {
          if (mark === "+") expected.add(line)
          const pureGap = mark === "-" && marks[index + 1] !== "-" && marks[index + 1] !== "+"
          if (pureGap && line > start) expected.add(line - 1)
          if (pureGap && line < start + kept) expected.add(line)
          if (mark !== "-") line++
        }
        const covered = parsed.changedLines.flatMap((range) =>
          Array.from({ length: range.end - range.start + 1 }, (_, offset) => range.start + offset),
        )
        expect(covered).toEqual([...expected].sort((one, other) => one - other))
      },
    ),
  )
})
