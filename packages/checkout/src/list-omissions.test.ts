// R-CHECKOUT-7

import { expect, test } from "vitest"
import type { ChangedFile } from "./checkout.ts"
import { listOmissions } from "./list-omissions.ts"

function changed(path: string, omitted: ChangedFile["omitted"]): ChangedFile {
  return { path, previousPath: null, status: "modified", patch: null, changedLines: [], additions: 0, deletions: 0, omitted }
}

test("lists the omissions of the change first and each path once", () => {
  const leftOut = new Map([
    ["a.png", "binary"],
    ["b.png", "binary"],
    [".claude/x", "discovery_input"],
  ] as const)
  const { omissions, total } = listOmissions([changed("b.png", "binary"), changed(".claude/x", null), changed("c.ts", null)], leftOut, 10)
  expect(omissions).toEqual([
    { path: "b.png", reason: "binary", changed: true },
    { path: ".claude/x", reason: "discovery_input", changed: true },
    { path: "a.png", reason: "binary", changed: false },
  ])
  expect(total).toBe(3)
})

test("says how many omissions there were when the list is cut", () => {
  const leftOut = new Map(Array.from({ length: 9 }, (_, index) => [`${index}.png`, "binary"] as const))
  expect(listOmissions([changed("x", "symlink")], leftOut, 2)).toMatchObject({ omissions: [{ path: "x" }, { path: "0.png" }], total: 10 })
})
