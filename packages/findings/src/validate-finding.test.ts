import type { EngineFinding } from "@galley/contract/finding"
import { describe, expect, test } from "vitest"
import { exampleFinding, exampleHead, idOf } from "./testing/example-run.ts"
import { validateFindings } from "./validate-finding.ts"

const validate = (findings: readonly EngineFinding[], over: Partial<Parameters<typeof validateFindings>[2]> = {}, head = exampleHead()) =>
  validateFindings(findings, head, { maxFindings: 10, ...over })

describe("validateFindings", () => {
  // R-FIND-1
  test("keeps a finding whose lines touch the change and completes its range", () => {
    const { kept, fingerprints, dropped } = validate([exampleFinding({ startLine: 20, endLine: null })])
    expect(kept).toEqual([exampleFinding({ startLine: 20, endLine: 20 })])
    expect(fingerprints).toEqual([idOf(exampleFinding())])
    expect(dropped).toEqual([])
  })

  // R-FIND-1
  test.each([
    ["a path that is not in the head tree", { path: "src/gone.ts" }, "path_unknown"],
    ["a path outside the repository", { path: "../x" }, "path_unknown"],
    ["line 0", { startLine: 0, endLine: 0 }, "lines_invalid"],
    ["a range that ends before it starts", { startLine: 12, endLine: 10 }, "lines_invalid"],
    ["lines beyond the file", { startLine: 10, endLine: 1_000_000_000 }, "lines_outside_file"],
    ["lines beside the change", { startLine: 21, endLine: 30 }, "outside_change"],
    ["a file that did not change", { path: "src/unchanged.ts" }, "outside_change"],
    ["a file that did not change, without lines", { path: "src/unchanged.ts", startLine: null, endLine: null }, "outside_change"],
  ] as const)("drops and counts a finding at %s", (_name, over, reason) => {
    const finding = exampleFinding(over)
    expect(validate([finding])).toEqual({ kept: [], fingerprints: [], dropped: [{ reason, count: 1 }], droppedIds: [idOf(finding)] })
  })

  test("keeps a finding without lines when its file changed", () => {
    expect(validate([exampleFinding({ startLine: null, endLine: null })]).kept).toHaveLength(1)
  })

  test("keeps a finding about a removed file, or one whose lines are unknown, without lines", () => {
    const removed = exampleHead({
      headPaths: new Set(["logo.png"]),
      changedFiles: [
        { path: "src/a.ts", status: "removed", changedLines: [] },
        { path: "logo.png", status: "added", changedLines: [] },
      ],
    })
    const { kept } = validate([exampleFinding(), exampleFinding({ path: "logo.png" })], {}, removed)
    expect(kept.map((finding) => [finding.path, finding.startLine])).toEqual([
      ["src/a.ts", null],
      ["logo.png", null],
    ])
  })

  test("lets a known finding lie outside the change, but not outside the file", () => {
    const beside = exampleFinding({ startLine: 90, endLine: 90 })
    const beyond = exampleFinding({ startLine: 101, endLine: 101 })
    const knownIds = new Set([idOf(beside)])
    expect(validate([beside], { knownIds }).kept).toHaveLength(1)
    expect(validate([beyond], { knownIds }).dropped).toEqual([{ reason: "lines_outside_file", count: 1 }])
  })

  test("keeps the first of two equal findings", () => {
    const { kept, dropped } = validate([exampleFinding(), exampleFinding({ body: "The  EARLY return keeps the lock." })])
    expect(kept).toHaveLength(1)
    expect(dropped).toEqual([{ reason: "duplicate", count: 1 }])
  })

  test("caps by priority, then confidence, then order, and names what it dropped", () => {
    const finding = (title: string, priority: EngineFinding["priority"], confidence: number | null) =>
      exampleFinding({ title, priority, confidence })
    const findings = [
      finding("c", null, null),
      finding("d", null, null),
      finding("b", "P2", 0.1),
      finding("a", "P2", 0.9),
      finding("z", "P0", null),
    ]
    const { kept, dropped, droppedIds } = validate(findings, { maxFindings: 4 })
    expect(kept.map((each) => each.title)).toEqual(["z", "a", "b", "c"])
    expect(dropped).toEqual([{ reason: "over_limit", count: 1 }])
    expect(droppedIds).toEqual([idOf(exampleFinding({ title: "d" }))])
  })

  test("keeps the engine's own fingerprints beside the findings they belong to", () => {
    const findings = [
      exampleFinding({ title: "x", path: "nowhere" }),
      exampleFinding({ title: "low", priority: "P3" }),
      exampleFinding({ title: "high", priority: "P0" }),
    ]
    const { fingerprints } = validate(findings, { fingerprints: ["0", "1", "2"] })
    expect(fingerprints).toEqual(["2", "1"])
  })
})
