// R-ENG-7

import { describe, expect, test } from "vitest"
import { changedFile } from "../testing/changed-file.ts"
import { filteredFiles } from "./filtered-files.ts"

const reasons = (...files: Parameters<typeof filteredFiles>[0]) => filteredFiles(files).map(({ path, reason }) => `${path}: ${reason}`)

describe("filteredFiles", () => {
  test("declares lock files at any depth", () => {
    expect(reasons(changedFile("go.sum"), changedFile("web/pnpm-lock.yaml"))).toEqual([
      "go.sum: engine_filtered",
      "web/pnpm-lock.yaml: engine_filtered",
    ])
  })

  test("declares minified files and source maps", () => {
    expect(reasons(changedFile("a.min.js"), changedFile("b.css.map"))).toEqual(["a.min.js: engine_filtered", "b.css.map: engine_filtered"])
  })

  test("compares names in their exact spelling, as PR-Agent does", () => {
    expect(reasons(changedFile("GO.SUM"), changedFile("go.sum.bak"), changedFile("my-yarn.lock"), changedFile("a.MIN.js"))).toEqual([])
  })

  test("declares a changed file without a hunk", () => {
    expect(reasons(changedFile("moved.ts", { patch: null, status: "renamed" }))).toEqual(["moved.ts: no_hunks"])
  })

  test("leaves a file to the checkout that has already declared it", () => {
    expect(
      reasons(changedFile("logo.png", { patch: null, omitted: "binary" }), changedFile("yarn.lock", { omitted: "file_too_large" })),
    ).toEqual([])
  })

  test("names nothing for ordinary files", () => {
    expect(reasons(changedFile("src/a.ts"), changedFile("vendor/b.go"), changedFile("data.csv"))).toEqual([])
  })
})
