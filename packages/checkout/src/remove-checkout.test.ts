import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { removeCheckout } from "./remove-checkout.ts"

let root = ""
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "galley-remove-"))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

test("removes a sealed tree", async () => {
  const job = join(root, "job")
  mkdirSync(join(job, "tree/a/b"), { recursive: true })
  writeFileSync(join(job, "tree/a/b/file"), "x", { mode: 0o444 })
  for (const directory of ["tree/a/b", "tree/a", "tree"]) chmodSync(join(job, directory), 0o555)
  await removeCheckout(job)
  expect(existsSync(job)).toBe(false)
})

test("does not follow links, neither inside nor as the job directory itself", async () => {
  const outside = join(root, "outside")
  mkdirSync(outside, { mode: 0o500 })
  writeFileSync(join(outside, "kept"), "x", { mode: 0o400 })
  const job = join(root, "job")
  mkdirSync(job)
  symlinkSync(outside, join(job, "link"))
  symlinkSync(job, join(root, "job-link"))
  await removeCheckout(join(root, "job-link"))
  expect(existsSync(job)).toBe(true)
  await removeCheckout(job)
  expect(existsSync(job)).toBe(false)
  expect(readFileSync(join(outside, "kept"), "utf8")).toBe("x")
})

test("finds nothing to do for a directory that is gone", async () => {
  await expect(removeCheckout(join(root, "never"))).resolves.toBeUndefined()
})

test("refuses a relative path", async () => {
  await expect(removeCheckout("job")).rejects.toMatchObject({ code: "internal_error" })
})
