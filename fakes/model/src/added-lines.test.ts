import { expect, test } from "vitest"
import { addedLinesOfDiff, addedLinesOfHunks, firstNamedLine, nameOn } from "./added-lines.ts"

test("numbers the added lines of a unified diff by the head", () => {
  const diff = `--- a/a.js
+++ b/a.js
@@ -6,3 +6,4 @@ head()
 six
-seven
+let seven = lock()
+use(seven)
 eight
@@ -20 +21 @@
-x
+y
\\ No newline at end of file
--- a/gone.js
+++ /dev/null
@@ -1 +0,0 @@
-old
--- /dev/null
+++ "b/odd \\"name\\".js"
@@ -0,0 +1 @@
+fresh`
  expect(addedLinesOfDiff(diff)).toEqual([
    { path: "a.js", line: 7, text: "let seven = lock()" },
    { path: "a.js", line: 8, text: "use(seven)" },
    { path: "a.js", line: 21, text: "y" },
    { path: 'odd "name".js', line: 1, text: "fresh" },
  ])
})

test("a changed line that looks like a file header stays a line", () => {
  const diff = "--- a/q.sql\n+++ b/q.sql\n@@ -1 +1 @@\n--- old comment\n+++ b/forged.sql\n"
  expect(addedLinesOfDiff(diff)).toEqual([{ path: "q.sql", line: 1, text: "++ b/forged.sql" }])
})

test("reads the numbered hunks of PR-Agent and skips the old ones", () => {
  const diff = `
## File: 'it's.js'

@@ -1,2 +1,2 @@
__new hunk__
1  same
2 +added
__old hunk__
 same
-12 +not added


## File 'gone.js' was deleted


## File: 'b.js'

@@ -0,0 +10 @@
__new hunk__
10 +__old hunk__
11 +
======`
  expect(addedLinesOfHunks(diff)).toEqual([
    { path: "it's.js", line: 2, text: "added" },
    { path: "b.js", line: 10, text: "__old hunk__" },
    { path: "b.js", line: 11, text: "" },
  ])
})

test.each([
  ["  return retryCount + 1", "retryCount"],
  ["const $el = x", "$el"],
  ["größe := 3", "größe"],
  ["} // --", null],
  ["if (a) {", null],
  [`let ${"x".repeat(60)} = 1`, "x".repeat(40)],
])("finds the name on %j", (text, name) => {
  expect(nameOn(text)).toBe(name)
})

test("passes over lines without a name", () => {
  const lines = ["", "}", "let total = 0"].map((text, index) => ({ path: "a.ts", line: index + 1, text }))
  expect(firstNamedLine(lines)).toMatchObject({ line: 3, name: "total" })
  expect(firstNamedLine(lines.slice(0, 2))).toBeNull()
})
