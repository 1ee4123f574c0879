// R-PROMPT-4

import { expect, test } from "vitest"
import { chooseDiffFiles, estimateTokens, pathClass } from "./choose-diff-files.ts"

const file = (path: string, bytes = 100) => ({ path, text: "x".repeat(bytes) })
const paths = (files: readonly { path: string }[]) => files.map(({ path }) => path)

test.each([
  ["src/a.ts", "source"],
  ["build/Makefile", "source"],
  ["src/contest.ts", "source"],
  ["src/latest/index.ts", "source"],
  ["src/a.test.ts", "tests"],
  ["pkg/server_test.go", "tests"],
  ["tests/helpers.py", "tests"],
  ["test_login.py", "tests"],
  ["docs/guide.html", "docs"],
  ["README.md", "docs"],
  ["LICENSE", "docs"],
  ["pnpm-lock.yaml", "generated"],
  ["sub/Cargo.lock", "generated"],
  ["vendor/lib/a.go", "generated"],
  ["web/app.min.js", "generated"],
  ["api/user.pb.go", "generated"],
  ["tests/__snapshots__/a.snap", "generated"],
] as const)("sorts %s as %s", (path, expected) => {
  expect(pathClass(path)).toBe(expected)
})

test("gives up generated files first, then docs, then tests, then source", () => {
  const files = ["pnpm-lock.yaml", "README.md", "src/a.test.ts", "src/a.ts"].map((path) => file(path))
  const one = estimateTokens(`${"x".repeat(100)}\n`)
  expect([4, 3, 2, 1, 0].map((room) => paths(chooseDiffFiles(files, room * one).kept))).toEqual([
    ["pnpm-lock.yaml", "README.md", "src/a.test.ts", "src/a.ts"],
    ["README.md", "src/a.test.ts", "src/a.ts"],
    ["src/a.test.ts", "src/a.ts"],
    ["src/a.ts"],
    [],
  ])
})

test("one huge file does not push out the small ones of its class", () => {
  const { kept, leftOut } = chooseDiffFiles([file("src/huge.ts", 100_000), file("src/b.ts"), file("src/a.ts")], 1_000)
  expect(paths(kept)).toEqual(["src/b.ts", "src/a.ts"])
  expect(paths(leftOut)).toEqual(["src/huge.ts"])
})

test("never cuts inside a file", () => {
  const files = [file("src/a.ts", 900), file("src/b.ts", 1_100)]
  expect(chooseDiffFiles(files, 500).kept).toEqual([files[0]])
})

test("names what was left out in the order of importance", () => {
  const { leftOut } = chooseDiffFiles([file("go.sum"), file("docs/a.md"), file("a_test.go"), file("a.go")], 0)
  expect(paths(leftOut)).toEqual(["a.go", "a_test.go", "docs/a.md", "go.sum"])
})
