import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"

const root = new URL("..", import.meta.url).pathname
const read = (file: string) => readFileSync(join(root, file), "utf8")

/** A row of the table of faults: files, or why there is none. */
const rows = [...read("TESTING.md").matchAll(/^\| (F\d+) +\|[^|]+\| ([^|]+?) +\|$/gm)].map(([, id = "", tests = ""]) => ({ id, tests }))

test("the table of faults names every fault once", () => {
  expect(rows.map(({ id }) => id)).toEqual(Array.from({ length: 52 }, (_, place) => `F${place + 1}`))
})

test.each(rows)(
  "$id stands above a test in each file that the table of faults names, or the table says why there is none",
  ({ id, tests }) => {
    const files = [...tests.matchAll(/`([^`]+)`/g)].map(([, file = ""]) => file)
    if (files.length === 0) expect(tests).toMatch(/^none( yet)?: ./)
    const mark = new RegExp(`^ *// (?:[\\w-]+,? )*${id}(?:,|$| )`, "m")
    expect(files.filter((file) => !mark.test(read(file)))).toEqual([])
  },
)
