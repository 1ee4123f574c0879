import { expect, test } from "vitest"
import { splitPatches } from "./describe-changes.ts"

const header = (path: string): string => `diff --git a/${path} b/${path}\nindex 1..2 100644\n--- a/${path}\n+++ b/${path}\n`

test("splits a diff into the hunks of its files", () => {
  const diff = `${header("a")}@@ -1 +1 @@\n-a\n+b\n${header("b")}@@ -1 +1 @@\n-c\n+d\n`
  expect(splitPatches(diff)).toEqual(["@@ -1 +1 @@\n-a\n+b\n", "@@ -1 +1 @@\n-c\n+d\n"])
})

test("gives no hunks for a mode change and a pure rename", () => {
  const diff =
    "diff --git a/x b/x\nold mode 100644\nnew mode 100755\ndiff --git a/y b/z\nsimilarity index 100%\nrename from y\nrename to z\n"
  expect(splitPatches(diff)).toEqual([null, null])
})

test.each(["\r", "\u2028", "\u2029", "\f", "\u0085"])("does not take a file header behind the line break %j for git's own", (lineBreak) => {
  const hunk = `@@ -0,0 +1 @@\n+x${lineBreak}diff --git a/evil b/evil${lineBreak}@@ -1 +1 @@\n`
  expect(splitPatches(`${header("a")}${hunk}`)).toEqual([hunk])
})

test("gives nothing for an empty diff", () => {
  expect(splitPatches("")).toEqual([])
})
