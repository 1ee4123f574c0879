import { errorCode } from "@galley/contract/errors"
import { describe, expect, test } from "vitest"
import { parseComment } from "./comment-state.ts"
import { fixture, stockRecord } from "./testing/example-run.ts"
import { virtualComment, virtualState } from "./virtual-state.ts"

const resolved = (index: number, body = "b") =>
  stockRecord({ finding_id: `r${index}`, state: "RESOLVED", body, resolved_at: `2026-10-${String(index).padStart(2, "0")}T00:00:00Z` })

describe("virtualState", () => {
  test("is empty, with an empty head, before the first review", () => {
    expect(virtualState(null)).toEqual({ schema_version: 1, findings: [], last_run: { head_sha: "" } })
  })

  // R-FIND-6
  test("holds all active records and the 20 newest resolved ones of a real comment", () => {
    const state = parseComment(fixture("many-resolved.in.md"))?.state ?? null
    const ids = virtualState(state).findings.map((record) => record.finding_id)
    expect(ids).toHaveLength(20)
    expect(ids[0]).toBe("resolved-25")
    expect(ids).not.toContain("resolved-05")
  })

  test("leaves the extension behind", () => {
    const state = { schema_version: 1 as const, findings: [stockRecord({ x: { v: 1, uid: "u" } })] }
    expect(virtualState(state).findings).toEqual([stockRecord()])
  })

  test("gives up old resolved records before it reaches 50,000 characters", () => {
    const state = {
      schema_version: 1 as const,
      findings: [stockRecord(), ...Array.from({ length: 20 }, (_, index) => resolved(index + 1, "b".repeat(5_000)))],
    }
    const comment = virtualComment(state)
    const ids = parseComment(comment)?.state.findings.map((record) => record.finding_id)
    expect(comment.length).toBeLessThan(50_000)
    expect(ids).toContain("r20")
    expect(ids).toContain(stockRecord().finding_id)
    expect(ids).not.toContain("r1")
  })

  test("refuses active records that do not fit", () => {
    const findings = Array.from({ length: 10 }, (_, index) => stockRecord({ finding_id: `a${index}`, body: "b".repeat(6_000) }))
    expect(() => virtualState({ schema_version: 1, findings })).toThrow(
      expect.toSatisfy((error) => errorCode(error) === "finding_state_too_large"),
    )
  })
})
