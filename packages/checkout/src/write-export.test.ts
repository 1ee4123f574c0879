import { mkdtempSync, readFileSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { removeCheckout } from "./remove-checkout.ts"
import { createExportWriter } from "./write-export.ts"

let root = ""
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "galley-export-"))
})
afterEach(() => removeCheckout(root))

// R-CHECKOUT-4
test("leaves files 0444 below directories 0555, the ones in between included", () => {
  const tree = join(root, "tree")
  const writer = createExportWriter(tree)
  writer.write("a/b/c/file", Buffer.from("x"))
  writer.seal()
  const modes = ["", "a", "a/b", "a/b/c", "a/b/c/file"].map((path) => statSync(join(tree, path)).mode & 0o7777)
  expect(modes).toEqual([0o555, 0o555, 0o555, 0o555, 0o444])
})

test("shows nothing to others before it is sealed", () => {
  const writer = createExportWriter(join(root, "tree"))
  writer.write("a/file", Buffer.from("x"))
  expect(statSync(join(root, "tree")).mode & 0o077).toBe(0)
})

test("refuses a path that is named twice, or as a file and as a folder", () => {
  const tree = join(root, "tree")
  const writer = createExportWriter(tree)
  writer.write("a", Buffer.from("first"))
  expect(() => writer.write("a", Buffer.from("second"))).toThrow(expect.objectContaining({ code: "checkout_path_unsafe" }))
  expect(() => writer.write("a/b", Buffer.from("third"))).toThrow(expect.objectContaining({ code: "checkout_path_unsafe" }))
  expect(readFileSync(join(tree, "a"), "utf8")).toBe("first")
})
