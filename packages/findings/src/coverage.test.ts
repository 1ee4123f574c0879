import { Coverage } from "@galley/contract/coverage"
import { describe, expect, test } from "vitest"
import { type CheckoutFacts, computeCoverage } from "./coverage.ts"

const file = (path: string, over: Partial<CheckoutFacts["changedFiles"][number]> = {}) => ({ path, patch: "@@", omitted: null, ...over })
const checkout = (over: Partial<CheckoutFacts> = {}): CheckoutFacts => ({
  changedFiles: [file("a.ts"), file("b.ts")],
  omitted: { omissions: [], total: 0 },
  comparison: { kind: "exact" },
  ...over,
})
const report = { examinedPaths: ["b.ts", "a.ts", "c.ts", "a.ts"], omissions: [], complete: true }

describe("computeCoverage", () => {
  test("is complete when every changed path was examined", () => {
    expect(Coverage.parse(computeCoverage(checkout(), report))).toEqual({
      status: "complete",
      changedFiles: 2,
      reviewedFiles: 2,
      examinedPaths: ["a.ts", "b.ts", "c.ts"],
      omitted: { omissions: [], total: 0 },
      comparison: "exact",
    })
  })

  test("is partial when the engine says that it saw only a part", () => {
    expect(computeCoverage(checkout(), { ...report, complete: false }).status).toBe("partial")
  })

  // R-ENG-7
  test("gives every unexamined changed path a reason: the policy's, the engine's, or our own", () => {
    const changedFiles = [file("key.pem", { patch: null, omitted: "credential_like" }), file("big.ts"), file("yarn.lock"), file("a.ts")]
    const omitted = { omissions: [{ path: "key.pem", reason: "credential_like" as const, changed: true }], total: 1 }
    const coverage = computeCoverage(checkout({ changedFiles, omitted }), {
      ...report,
      omissions: [{ path: "big.ts", reason: "over_token_budget", changed: true }],
    })
    expect(coverage.status).toBe("partial")
    expect(coverage.reviewedFiles).toBe(1)
    expect(coverage.omitted.total).toBe(3)
    expect(coverage.omitted.omissions.map(({ path, reason }) => [path, reason])).toEqual([
      ["key.pem", "credential_like"],
      ["big.ts", "over_token_budget"],
      ["yarn.lock", "engine_filtered"],
    ])
  })

  test("is complete when the rest of the change is names and modes alone", () => {
    const changedFiles = [file("a.ts"), file("moved.ts", { patch: null }), file("run.sh", { patch: null })]
    expect(computeCoverage(checkout({ changedFiles }), report)).toMatchObject({ status: "complete", reviewedFiles: 3 })
  })

  test("counts a path left out of the export as examined when its diff text was seen", () => {
    const omitted = { omissions: [{ path: "a.ts", reason: "discovery_input" as const, changed: true }], total: 1 }
    const coverage = computeCoverage(checkout({ omitted }), report)
    expect(coverage.status).toBe("complete")
    expect(coverage.omitted).toEqual({ omissions: [], total: 0 })
  })

  test("lists omissions of the change before those of the tree and says when the list is cut", () => {
    const tree = Array.from({ length: 500 }, (_, index) => ({ path: `${index}.png`, reason: "binary" as const, changed: false }))
    const changedFiles = [file("a.ts"), file("x.png", { patch: null, omitted: "binary" }), file("yarn.lock")]
    const coverage = computeCoverage(checkout({ changedFiles, omitted: { omissions: tree, total: 700 } }), report)
    expect(coverage.omitted.omissions.slice(0, 3).map(({ path }) => path)).toEqual(["x.png", "yarn.lock", "0.png"])
    expect(coverage.omitted.omissions).toHaveLength(500)
    expect(coverage.omitted.total).toBe(701)
  })
})
