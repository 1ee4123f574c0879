import type { EngineFinding, FindingState } from "@galley/contract/finding"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { parseComment } from "./comment-state.ts"
import { uidOf } from "./finding-identity.ts"
import { renderComment } from "./render-comment.ts"
import { exampleComment, exampleFinding, exampleHead, idOf, runReconcile } from "./testing/example-run.ts"

const paths = ["src/a.ts", "src/b.ts"]
const finding: fc.Arbitrary<EngineFinding> = fc.record({
  title: fc.string({ unit: "binary", minLength: 1, maxLength: 40 }),
  body: fc.string({ unit: "binary", minLength: 1, maxLength: 200 }).map((text) => `.${text}`),
  path: fc.constantFrom(...paths),
  startLine: fc.constantFrom(null, 7),
  endLine: fc.constantFrom(null, 9),
  priority: fc.constantFrom(null, "P0" as const, "P3" as const),
  confidence: fc.constantFrom(null, 0.25),
  evidence: fc.array(fc.string({ unit: "binary", minLength: 1, maxLength: 60 }), { maxLength: 2 }),
  rules: fc.array(fc.string({ minLength: 1, maxLength: 10 }), { maxLength: 1 }),
})
const run = fc.record({
  kind: fc.constantFrom("diff" as const, "dynamic" as const),
  findings: fc.uniqueArray(finding, { maxLength: 4, selector: idOf }),
  engineComplete: fc.boolean(),
  changed: fc.subarray(paths),
  examined: fc.subarray(paths),
  namesAll: fc.boolean(),
})

const sha = (index: number) => index.toString(16).padStart(40, "0")

describe("any sequence of reviews of both kinds", () => {
  // R-FIND-2
  test("loses no record, resolves only what its kind may, and comes back from the rendered comment as it was", () => {
    fc.assert(
      fc.property(fc.array(run, { minLength: 1, maxLength: 6 }), (runs) => {
        let prior: FindingState | null = null
        for (const [index, each] of runs.entries()) {
          const before: FindingState["findings"] = prior?.findings ?? []
          const comparison = { kind: "exact" as const, previousHeadSha: sha(index), changedPaths: new Set(each.changed) }
          const head = exampleHead({ headSha: sha(index + 1), comparison: index === 0 ? { kind: "none" } : comparison })
          const result = runReconcile({
            prior,
            kind: each.kind,
            findings: each.findings,
            engineComplete: each.engineComplete,
            resolvedIds: each.namesAll ? before.map(uidOf) : [],
            head,
            coverage: {
              status: "complete",
              changedFiles: 2,
              reviewedFiles: 2,
              examinedPaths: each.examined,
              omitted: { omissions: [], total: 0 },
              comparison: "exact",
            },
          })
          const reported = new Set(each.findings.map((other) => other.path))
          for (const record of before) {
            const after = result.state.findings.find((other) => other.finding_id === record.finding_id)
            expect(after && uidOf(after)).toBe(uidOf(record))
            if (!reported.has(record.path)) expect(after?.body).toBe(record.body)
            if (record.x?.priority) expect(after?.x?.priority).toBeTruthy()
            if (record.state === "ACTIVE" && after?.state === "RESOLVED") {
              if (each.kind === "diff") expect(after.x?.engine).toBe("diff")
              expect(each.examined).toContain(record.path)
              expect(each.kind === "diff" ? each.engineComplete : each.namesAll).toBe(true)
            }
          }
          const comment = renderComment(exampleComment(result, { reviewedSha: head.headSha }))
          expect(parseComment(comment)?.state).toEqual(result.state)
          prior = result.state
        }
      }),
      { numRuns: 200 },
    )
  }, 30_000)

  // R-FIND-5
  test("Diff, Dynamic, Diff: every record keeps its id, text, priority and evidence", () => {
    const dynamicFinding = exampleFinding({ title: "From Dynamic", path: "src/b.ts", evidence: ["release(held)"] })
    const diffFinding = exampleFinding({ title: "From Diff", priority: null, confidence: null, evidence: [] })
    const first = runReconcile({ kind: "diff", findings: [diffFinding], head: exampleHead({ headSha: sha(1) }) }).state
    const second = runReconcile({ prior: first, kind: "dynamic", findings: [dynamicFinding], head: exampleHead({ headSha: sha(2) }) }).state
    const third = runReconcile({ prior: second, kind: "diff", findings: [diffFinding], head: exampleHead({ headSha: sha(3) }) }).state
    expect(third.findings.map((record) => record.state)).toEqual(["ACTIVE", "ACTIVE"])
    expect(third.findings.find((record) => record.path === "src/b.ts")).toEqual(
      second.findings.find((record) => record.path === "src/b.ts"),
    )
  })
})
