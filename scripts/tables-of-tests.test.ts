import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"

const root = new URL("..", import.meta.url).pathname
const read = (file: string) => readFileSync(join(root, file), "utf8")
const id = String.raw`(?:R-[A-Z]+-|[BF])\d+`

/** A row of a table: the ids of its cases, and the files of their tests or why there is none. */
const rows = [...read("TESTING.md").matchAll(new RegExp(`^\\| (${id}(?:, ${id})*) +\\|.*\\| ([^|]+?) +\\|$`, "gm"))].map(
  ([, ids = "", tests = ""]) => ({ ids, tests }),
)
const ids = rows.flatMap((row) => row.ids.split(", "))

test("the tables name every case once, and every fault", () => {
  expect(ids.filter((name, place) => ids.indexOf(name) !== place)).toEqual([])
  const faults = ids.filter((name) => name.startsWith("F"))
  expect(faults).toEqual(Array.from({ length: 52 }, (_, place) => `F${place + 1}`))
})

test.each(rows)("$ids stands above a test in each file that its row names, or the row says why there is none", ({ ids, tests }) => {
  const files = [...tests.matchAll(/`([^`]+)`/g)].map(([, file = ""]) => file)
  if (files.length === 0) expect(tests).toMatch(/^none: ./)
  for (const file of files) expect(marksOf(file), file).toEqual(expect.arrayContaining(ids.split(", ")))
})

/** The ids in comments that start with a list of ids; `report B1` is of another list. */
function marksOf(file: string): string[] {
  const mark = String.raw`(?:report )?[A-Z][A-Z\d-]*\d`
  const comments = read(file).matchAll(new RegExp(`^ *// (${mark}(?:, ${mark})*)`, "gm"))
  return [...comments].flatMap(([, list = ""]) => list.split(", "))
}
