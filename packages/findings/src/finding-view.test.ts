import { Finding } from "@galley/contract/finding"
import { describe, expect, test } from "vitest"
import { parseComment } from "./comment-state.ts"
import { findingView } from "./finding-view.ts"
import { EARLIER_HEAD, exampleFinding, fixture, HEAD, idOf, runReconcile, stockRecord } from "./testing/example-run.ts"

describe("findingView", () => {
  test("shows a finding as the engine reported it", () => {
    const [record] = runReconcile({ findings: [exampleFinding()] }).active
    expect(record && findingView(record)).toEqual({
      ...exampleFinding(),
      id: idOf(exampleFinding()),
      state: "active",
      engine: "dynamic",
      firstSeenSha: HEAD,
      lastSeenSha: HEAD,
    })
  })

  // R-FIND-9
  test("invents nothing for a record of stock PR-Agent", () => {
    expect(Finding.parse(findingView(stockRecord()))).toEqual({
      id: "5d19930a0b40",
      state: "active",
      title: "Endless loop",
      body: "retry never gives up.",
      path: "src/a.ts",
      startLine: 2,
      endLine: 4,
      priority: null,
      confidence: null,
      evidence: [],
      rules: [],
      engine: null,
      firstSeenSha: null,
      lastSeenSha: EARLIER_HEAD,
    })
  })

  test("takes the first line for the title of a body without one, and no commit from text that is none", () => {
    const view = findingView(stockRecord({ body: `${"é".repeat(90)}\nmore`, last_seen_head_sha: "](http://x)" }))
    expect(view.title).toBe(`${"é".repeat(38)}…`)
    expect(view.lastSeenSha).toBeNull()
  })

  test.each(["second-run.md", "many-resolved.md", "odd-text.md"])("gives pages a valid view of every record in %s", (name) => {
    for (const record of parseComment(fixture(name))?.state.findings ?? []) expect(() => Finding.parse(findingView(record))).not.toThrow()
  })
})
