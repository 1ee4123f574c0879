import { describe, expect, test } from "vitest"
import { changedFile } from "../testing/changed-file.ts"
import { dynamicReport } from "./dynamic-report.ts"

const result = {
  version: 1 as const,
  findings: [],
  resolved: [{ id: "a", evidence: "x" }],
  confirmed: ["b"],
  examinedPaths: ["claimed.ts"],
}
const changedFiles = [
  changedFile("shown.ts"),
  changedFile("huge.ts"),
  changedFile("moved.ts", { patch: null, status: "renamed" }),
  changedFile(".env", { omitted: "credential_like" }),
]
const leftOut = [{ path: "huge.ts", reason: "over_token_budget" as const }]

describe("dynamicReport", () => {
  test("counts as examined what the prompt showed and what tools delivered, never what the model claims", () => {
    const report = dynamicReport(result, { changedFiles, leftOut, readPaths: ["lib/read.ts", "shown.ts"] })
    expect(report.examinedPaths).toEqual(["lib/read.ts", "shown.ts"])
  })

  test("declares the files whose diff did not fit and is not complete then", () => {
    const report = dynamicReport(result, { changedFiles, leftOut, readPaths: [] })
    expect(report.omissions).toEqual([{ path: "huge.ts", reason: "over_token_budget", changed: true }])
    expect(report.complete).toBe(false)
    expect(dynamicReport(result, { changedFiles, leftOut: [], readPaths: [] }).complete).toBe(true)
  })

  test("passes on which earlier findings the engine names as resolved or still there", () => {
    const report = dynamicReport(result, { changedFiles, leftOut: [], readPaths: [] })
    expect([report.resolvedIds, report.confirmedIds]).toEqual([["a"], ["b"]])
  })
})
