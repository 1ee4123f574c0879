import { expect, test } from "vitest"
import { readableFiles, reportWithoutEngine } from "./readable-files.ts"
import { changedFile } from "./testing/changed-file.ts"

const source = changedFile("src/a.ts")
const lock = changedFile("package-lock.json")
const moved = changedFile("b.ts", { patch: null })
const image = changedFile("c.png", { patch: null, omitted: "binary" })
const paths = (kind: "diff" | "dynamic") => readableFiles(kind, [source, lock, moved, image]).map((file) => file.path)

test("Diff Review reads what has a hunk and is not dropped by PR-Agent", () => {
  expect(paths("diff")).toEqual(["src/a.ts"])
})

test("Dynamic Review reads whatever has a hunk", () => {
  expect(paths("dynamic")).toEqual(["src/a.ts", "package-lock.json"])
})

// R-CHECKOUT-11
test("nothing is readable when every changed file is omitted, or none changed", () => {
  for (const kind of ["diff", "dynamic"] as const) {
    expect(readableFiles(kind, [])).toEqual([])
    // An omission decides even over a hunk.
    expect(readableFiles(kind, [image, changedFile("d.ts", { omitted: "file_too_large" })])).toEqual([])
  }
})

test("without an engine nothing is found or examined, and what PR-Agent would have dropped is declared", () => {
  expect(reportWithoutEngine("diff", [lock, moved])).toMatchObject({
    findings: [],
    examinedPaths: [],
    complete: true,
    engine: null,
    omissions: [
      { path: "package-lock.json", reason: "engine_filtered" },
      { path: "b.ts", reason: "no_hunks" },
    ],
  })
})
