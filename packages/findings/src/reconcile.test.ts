import { FindingState } from "@galley/contract/finding"
import { describe, expect, test } from "vitest"
import { parseComment } from "./comment-state.ts"
import {
  EARLIER_HEAD,
  type ExampleRun,
  earlierState,
  exampleCoverage,
  exampleFinding,
  exampleHead,
  fixture,
  HEAD,
  idOf,
  NOW,
  nextHead,
  runReconcile,
  stockRecord,
} from "./testing/example-run.ts"

const known = exampleFinding()
const id = idOf(known)
const stateOfFirst = (result: ReturnType<typeof runReconcile>) => result.state.findings[0]?.state

describe("a new finding", () => {
  test("becomes an active record in PR-Agent's spelling with everything PR-Agent drops beside it", () => {
    const { state, active, newCount } = runReconcile({ findings: [known] })
    expect(FindingState.parse(state)).toEqual(state)
    expect(newCount).toBe(1)
    expect(active).toEqual([
      {
        finding_id: id,
        state: "ACTIVE",
        body: "**Lock is never released**\n\nThe early return keeps the lock.",
        path: "src/a.ts",
        line_start: 10,
        line_end: 11,
        first_seen: NOW,
        last_seen: NOW,
        last_seen_head_sha: HEAD,
        x: {
          v: 1,
          uid: id,
          engine: "dynamic",
          title: known.title,
          priority: "P1",
          confidence: 0.8,
          evidence: known.evidence,
          rules: [],
          aliases: [],
          first_seen_head_sha: HEAD,
          reviewed_sha: HEAD,
        },
      },
    ])
  })

  test("of PR-Agent keeps PR-Agent's fingerprint, and the one of the text we store as alias", () => {
    const finding = exampleFinding({ priority: null, confidence: null, evidence: [] })
    const { active } = runReconcile({ kind: "diff", findings: [finding], fingerprints: ["0123456789ab"] })
    expect(active[0]).toMatchObject({ finding_id: "0123456789ab", x: { engine: "diff", priority: null, confidence: null, aliases: [id] } })
  })

  test("is stored once although reported twice", () => {
    expect(runReconcile({ findings: [known, known] }).active).toHaveLength(1)
  })
})

describe("a finding seen again", () => {
  test("keeps its id, first sight and unknown keys, and takes the new lines", () => {
    const prior = earlierState("dynamic", [known])
    const [record] = prior.findings
    const extended: FindingState = {
      ...prior,
      ours: 1,
      findings: record === undefined ? [] : [{ ...record, theirs: { a: [1] }, x: { v: 1, uid: "u", ...record.x, later: true } }],
    }
    const { state, newCount } = runReconcile({ prior: extended, findings: [{ ...known, startLine: 12, endLine: 12 }], head: nextHead([]) })
    expect(newCount).toBe(0)
    expect(state.ours).toBe(1)
    expect(state.findings[0]).toMatchObject({ finding_id: id, line_start: 12, last_seen_head_sha: HEAD, theirs: { a: [1] } })
    expect(state.findings[0]?.first_seen).not.toBe(NOW)
    expect(state.findings[0]?.x).toMatchObject({ uid: id, later: true, first_seen_head_sha: EARLIER_HEAD, reviewed_sha: HEAD })
  })

  test("in other words but with the same evidence keeps its id and is known by both fingerprints", () => {
    const reworded = exampleFinding({ title: "Deadlock", body: "Nobody unlocks." })
    const { state } = runReconcile({ prior: earlierState("dynamic", [known]), findings: [reworded], head: nextHead([]) })
    expect(state.findings).toHaveLength(1)
    expect(state.findings[0]).toMatchObject({
      finding_id: id,
      body: "**Deadlock**\n\nNobody unlocks.",
      x: { uid: id, aliases: [idOf(reworded)] },
    })
    expect(runReconcile({ prior: state, findings: [reworded], head: exampleHead() }).newCount).toBe(0)
  })

  test("by PR-Agent keeps the priority, confidence and evidence it had", () => {
    const bare = exampleFinding({ priority: null, confidence: null, evidence: [] })
    const { state } = runReconcile({ prior: earlierState("dynamic", [known]), kind: "diff", findings: [bare], head: nextHead([]) })
    expect(state.findings[0]?.x).toMatchObject({ priority: "P1", confidence: 0.8, evidence: known.evidence, engine: "dynamic" })
  })

  test("without lines loses its old ones", () => {
    const { state } = runReconcile({ prior: earlierState("dynamic", [known]), findings: [{ ...known, startLine: null, endLine: null }] })
    expect(state.findings[0]).not.toHaveProperty("line_start")
  })

  test("after it was resolved is reopened and keeps how it was resolved", () => {
    const prior = earlierState("dynamic", [known])
    const resolved = runReconcile({ prior, resolvedIds: [id], head: nextHead(["src/a.ts"]) }).state
    const { state, reopenedCount } = runReconcile({ prior: resolved, findings: [known], head: exampleHead({ headSha: "c".repeat(40) }) })
    expect(reopenedCount).toBe(1)
    expect(state.findings[0]).toMatchObject({ state: "ACTIVE", reopened_count: 1, reopened_at: NOW, resolved_head_sha: HEAD })
  })

  test("is reopened the way PR-Agent does it", () => {
    const prior = parseComment(fixture("second-run.in.md"))?.state ?? null
    const theirs = parseComment(fixture("second-run.md"))?.state.findings.find((record) => record.path === "src/new.js")
    const loop = exampleFinding({ title: "Endless loop", body: "retry never gives up.", path: "src/new.js", startLine: 2, endLine: 4 })
    const ours = runReconcile({ prior, kind: "diff", findings: [loop] }).state.findings.find((record) => record.path === "src/new.js")
    expect(Object.keys({ ...ours }).sort()).toEqual(Object.keys({ ...theirs }).sort())
    expect(ours).toMatchObject({ finding_id: theirs?.finding_id, state: "ACTIVE", body: theirs?.body, reopened_count: 1 })
    expect(ours?.x).toMatchObject({ uid: "uid-1", unknown: { nested: [1, null, "é"] } })
  })

  test("confirmed by its id alone is up to date, with the lines of the head that gave them", () => {
    const { state } = runReconcile({ prior: earlierState("dynamic", [known]), confirmedIds: [id], head: nextHead(["src/a.ts"]) })
    expect(state.findings[0]).toMatchObject({
      state: "ACTIVE",
      last_seen_head_sha: HEAD,
      line_start: 10,
      x: { reviewed_sha: EARLIER_HEAD },
    })
  })

  test("is not confirmed by an engine that did not look", () => {
    const coverage = exampleCoverage({ examinedPaths: [] })
    const { state } = runReconcile({ prior: earlierState("dynamic", [known]), confirmedIds: [id], head: nextHead([]), coverage })
    expect(state.findings[0]?.last_seen_head_sha).toBe(EARLIER_HEAD)
  })

  test("is not confirmed at a path that is gone", () => {
    const head = nextHead(["src/a.ts"], { headPaths: new Set() })
    const { state } = runReconcile({ prior: earlierState("dynamic", [known]), confirmedIds: [id], head })
    expect(state.findings[0]?.last_seen_head_sha).toBe(EARLIER_HEAD)
  })
})

describe("Dynamic Review resolves", () => {
  const named = (over: ExampleRun = {}) =>
    runReconcile({ prior: earlierState("dynamic", [known]), resolvedIds: [id], head: nextHead(["src/a.ts"]), ...over })

  // R-FIND-3
  test("a finding it names, at a path it examined and which changed", () => {
    const result = named()
    expect(result.resolvedCount).toBe(1)
    expect(result.resolved[0]).toMatchObject({ state: "RESOLVED", resolved_at: NOW, resolved_head_sha: HEAD, resolution_run_id: "run-1" })
  })

  test("a finding it names whose path is gone", () => {
    const head = nextHead(["src/a.ts"], { headPaths: new Set(["src/b.ts"]) })
    expect(stateOfFirst(named({ head, coverage: exampleCoverage({ examinedPaths: [] }) }))).toBe("RESOLVED")
  })

  test("a finding whose path changed in an earlier push already", () => {
    const silent = named({ resolvedIds: [], findings: [] }).state
    expect(silent.findings[0]?.x?.changed_since_seen).toBe(true)
    const later = {
      headSha: "c".repeat(40),
      comparison: { kind: "exact" as const, previousHeadSha: HEAD, changedPaths: new Set<string>() },
    }
    expect(stateOfFirst(named({ prior: silent, head: exampleHead(later) }))).toBe("RESOLVED")
  })

  test("a record of Diff Review like its own: the evidence counts, not who found it", () => {
    expect(stateOfFirst(named({ prior: earlierState("diff", [known]) }))).toBe("RESOLVED")
  })

  // R-FIND-2, R-FIND-3
  test.each([
    ["by absence", { resolvedIds: [] }],
    ["at a path it did not examine", { coverage: exampleCoverage({ examinedPaths: ["src/b.ts"] }) }],
    ["at a path that did not change", { head: nextHead(["src/b.ts"]) }],
    ["when the earlier tree is unavailable", { head: exampleHead({ comparison: { kind: "unavailable", previousHeadSha: EARLIER_HEAD } }) }],
    ["when it reports the finding all the same", { findings: [known] }],
    ["under an unknown id", { resolvedIds: ["0123456789ab"] }],
  ] as const)("nothing %s", (_name, over) => {
    const result = named(over)
    expect(stateOfFirst(result)).toBe("ACTIVE")
    expect(result.resolvedCount).toBe(0)
  })
})

describe("Diff Review resolves by absence", () => {
  const absent = (over: ExampleRun = {}) =>
    runReconcile({ prior: earlierState("diff", [known]), kind: "diff", head: nextHead([]), ...over })

  test("its own finding, on a complete run at a new head that covered the path", () => {
    expect(absent().resolvedCount).toBe(1)
    expect(absent().resolved[0]?.resolved_head_sha).toBe(HEAD)
  })

  test("a record written by stock PR-Agent", () => {
    const prior: FindingState = { schema_version: 1, findings: [stockRecord()], last_run: { head_sha: EARLIER_HEAD } }
    expect(stateOfFirst(absent({ prior }))).toBe("RESOLVED")
  })

  test("a finding at a path that is gone, or which this push took out of the change", () => {
    const coverage = exampleCoverage({ examinedPaths: [] })
    expect(stateOfFirst(absent({ coverage, head: nextHead([], { headPaths: new Set() }) }))).toBe("RESOLVED")
    expect(stateOfFirst(absent({ coverage, head: nextHead(["src/a.ts"], { changedFiles: [] }) }))).toBe("RESOLVED")
  })

  test("what it examined, although policy left another file out", () => {
    expect(stateOfFirst(absent({ coverage: exampleCoverage({ status: "partial", examinedPaths: ["src/a.ts"] }) }))).toBe("RESOLVED")
  })

  // R-FIND-2
  test.each([
    ["on a run the engine calls incomplete", { engineComplete: false }],
    ["at a path it did not cover", { coverage: exampleCoverage({ status: "partial", examinedPaths: ["src/b.ts"] }) }],
    ["at the same head again", { head: nextHead([], { headSha: EARLIER_HEAD }) }],
    [
      "at a path that left the change by an older push",
      { coverage: exampleCoverage({ examinedPaths: [] }), head: nextHead([], { changedFiles: [] }) },
    ],
    ["at a head that was reviewed before", { prior: { ...earlierState("diff", [known]), last_run: { head_sha: HEAD } } }],
    ["that it reported at a place which does not hold", { droppedIds: [id] }],
    ["of Dynamic Review", { prior: earlierState("dynamic", [known]) }],
    [
      "that Dynamic Review confirmed since",
      {
        prior: runReconcile({ prior: earlierState("diff", [known]), confirmedIds: [id], head: exampleHead({ headSha: EARLIER_HEAD }) })
          .state,
      },
    ],
  ] as const)("nothing %s", (_name, over) => {
    const result = absent(over)
    expect(stateOfFirst(result)).toBe("ACTIVE")
    expect(result.resolvedCount).toBe(0)
  })

  test("nothing back at the head where the finding was last seen", () => {
    const between: FindingState = { ...earlierState("diff", [known]), last_run: { head_sha: "c".repeat(40) } }
    expect(stateOfFirst(absent({ prior: between, head: exampleHead({ headSha: EARLIER_HEAD }) }))).toBe("ACTIVE")
  })

  test("nothing when no earlier head is known", () => {
    const prior: FindingState = { schema_version: 1, findings: [stockRecord()] }
    expect(stateOfFirst(absent({ prior, head: exampleHead() }))).toBe("ACTIVE")
  })
})

describe("the state", () => {
  test("says what the run was and keeps what it does not know", () => {
    const omissions = [
      { path: "z.png", reason: "binary" as const, changed: true },
      { path: "a.lock", reason: "engine_filtered" as const, changed: true },
      { path: "tree.png", reason: "binary" as const, changed: false },
    ]
    const prior: FindingState = { schema_version: 1, findings: [], last_run: { head_sha: EARLIER_HEAD, theirs: 1 } }
    const coverage = exampleCoverage({ status: "partial", omitted: { omissions, total: 3 } })
    expect(runReconcile({ prior, coverage }).state.last_run).toEqual({
      theirs: 1,
      head_sha: HEAD,
      complete: false,
      kind: "partial",
      run_id: "run-1",
      excluded_files: ["a.lock", "z.png"],
    })
  })

  test("is sorted by finding id", () => {
    const findings = ["c", "a", "b"].map((title) => exampleFinding({ title, evidence: [] }))
    const ids = runReconcile({ findings }).state.findings.map((record) => record.finding_id)
    expect(ids).toEqual([...ids].sort())
  })

  test("leaves a stock record at an unchanged path that nobody mentions exactly as it was", () => {
    const prior: FindingState = { schema_version: 1, findings: [stockRecord()] }
    expect(runReconcile({ prior, head: nextHead([]) }).state.findings).toEqual([stockRecord()])
  })

  test("forgets the oldest resolved records first, says how many, and never an active one", () => {
    const old = Array.from({ length: 100 }, (_, index) =>
      stockRecord({
        finding_id: `r${index}`,
        state: "RESOLVED",
        body: "b".repeat(1_000),
        resolved_at: `2026-01-01T00:${String(index).padStart(2, "0")}:00Z`,
      }),
    )
    const active = Array.from({ length: 10 }, (_, index) => stockRecord({ finding_id: `a${index}`, path: "src/unchanged.ts" }))
    const result = runReconcile({ prior: { schema_version: 1, findings: [...old, ...active] } })
    expect(result.active).toHaveLength(10)
    expect(result.forgottenCount).toBe(100 - result.resolved.length)
    expect(result.resolved.length).toBeGreaterThan(20)
    expect(result.resolved.map((record) => record.finding_id)).toContain("r99")
    expect(result.resolved.map((record) => record.finding_id)).not.toContain("r0")
  })

  test("stores less text of many long findings, recognisably cut, and still knows them", () => {
    const findings = Array.from({ length: 30 }, (_, index) =>
      exampleFinding({ title: `${index}`, body: "🔒".repeat(1_000) + index, evidence: [`${index}: ${"x".repeat(990)}`] }),
    )
    const { state } = runReconcile({ findings })
    expect(Buffer.byteLength(JSON.stringify(state))).toBeLessThan(45_000)
    expect(state.findings).toHaveLength(30)
    expect(state.findings[0]?.body).toMatch(/🔒…$/)
    expect(runReconcile({ prior: state, findings }).newCount).toBe(0)
    const wordForWord = state.findings.map((record) =>
      exampleFinding({ title: record.x?.title ?? "", body: record.body.replace(/^.*\n\n/, ""), evidence: [] }),
    )
    expect(runReconcile({ prior: state, findings: wordForWord }).newCount).toBe(0)
  })
})
