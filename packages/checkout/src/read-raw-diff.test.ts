import { expect, test } from "vitest"
import { parseRawDiff } from "./read-raw-diff.ts"

const A = "a".repeat(40)
const B = "b".repeat(40)

test("tells added, removed, changed and moved paths apart", () => {
  const fields = [
    `:000000 100644 ${"0".repeat(40)} ${A} A`,
    "new.ts",
    `:100644 000000 ${A} ${"0".repeat(40)} D`,
    "gone.ts",
    `:100644 120000 ${A} ${B} T`,
    "now a link",
    `:100644 100755 ${A} ${B} R087`,
    "old\tname",
    "new\nname",
  ]
  const changes = parseRawDiff(fields)
  expect(changes.map((change) => [change.before?.path ?? null, change.after?.path ?? null])).toEqual([
    [null, "new.ts"],
    ["gone.ts", null],
    ["now a link", "now a link"],
    ["old\tname", "new\nname"],
  ])
  expect(changes[2]?.after).toEqual({ mode: "120000", oid: B, path: "now a link" })
})
