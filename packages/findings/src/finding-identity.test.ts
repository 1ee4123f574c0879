import { describe, expect, test } from "vitest"
import { parseComment } from "./comment-state.ts"
import { dynamicBody, fingerprint, knownIds, matchPrior, uidOf } from "./finding-identity.ts"
import { earlierState, exampleFinding, fixture, idOf, stockRecord } from "./testing/example-run.ts"

const nobody: ReadonlySet<string> = new Set()

describe("fingerprint", () => {
  // R-FIND-6
  test("equals PR-Agent's published vector", () => {
    expect(fingerprint("src/a.py", "**Possible Issue**\n\nThe lock is   never released --> ever.")).toBe("46e1356d6364")
  })

  // R-FIND-6
  test.each(["first-run.md", "second-run.md", "odd-text.md", "marker-literal.md"])("equals every id PR-Agent wrote in %s", (name) => {
    const records = parseComment(fixture(name))?.state.findings ?? []
    expect(records.length).toBeGreaterThan(0)
    for (const record of records) expect(fingerprint(record.path, record.body)).toBe(record.finding_id)
  })

  test("ignores white space, letter case, and dressing around the path", () => {
    expect(fingerprint(" `/src/a.ts` ", "A  b\nC")).toBe(fingerprint("src/a.ts", "a b c"))
  })

  test("folds what Python calls white space and keeps the byte order mark", () => {
    expect(fingerprint("a", "x\u0085\u001cy")).toBe(fingerprint("a", "x y"))
    expect(fingerprint("a", "x\ufeffy")).not.toBe(fingerprint("a", "x y"))
  })
})

describe("dynamicBody", () => {
  test("spells title and text the way PR-Agent stores them", () => {
    expect(dynamicBody(" A *bold*\ntitle ", " text\n")).toBe("**A bold title**\n\ntext")
    expect(dynamicBody("Possible BUG", "x")).toBe("**Possible Issue**\n\nx")
    expect(dynamicBody("T", "``` Suggestion\nx\n```")).toBe("**T**\n\n```text\nx\n```")
    expect(dynamicBody("**", "text alone")).toBe("text alone")
  })
})

describe("uidOf", () => {
  test("takes the record's own uid, else derives one of at most 64 characters from its finding id", () => {
    expect(uidOf(stockRecord({ x: { v: 1, uid: "mine" } }))).toBe("mine")
    expect(uidOf(stockRecord())).toBe("5d19930a0b40")
    expect(uidOf(stockRecord({ finding_id: "z".repeat(500) }))).toMatch(/^[0-9a-f]{64}$/)
  })
})

describe("knownIds", () => {
  test("holds finding ids and aliases", () => {
    const aliased = stockRecord({ finding_id: "b", x: { v: 1, uid: "u", aliases: ["c"] } })
    expect(knownIds({ schema_version: 1, findings: [stockRecord({ finding_id: "a" }), aliased] })).toEqual(new Set(["a", "b", "c"]))
    expect(knownIds(null).size).toBe(0)
  })
})

describe("matchPrior", () => {
  const report = (over: Parameters<typeof exampleFinding>[0]) => {
    const finding = exampleFinding(over)
    return { finding, fingerprint: idOf(finding) }
  }
  const match = (over: Parameters<typeof exampleFinding>[0], named = nobody) => {
    const prior = earlierState("dynamic", [exampleFinding()]).findings
    return matchPrior([report(over)], prior, named)[0] ?? null
  }

  test("recognises the same words at other lines", () => {
    expect(match({ startLine: 18, endLine: 19, evidence: [] })).not.toBeNull()
  })

  // R-FIND-4
  test("recognises a reworded finding by its evidence", () => {
    expect(match({ title: "Deadlock", body: "Other words.", evidence: ["const  held = LOCK()"] })).not.toBeNull()
  })

  // R-FIND-4
  test("takes a reworded finding for new without evidence, with other evidence, or with a quote that says nothing", () => {
    expect(match({ body: "Other words.", evidence: [] })).toBeNull()
    expect(match({ body: "Other words.", evidence: ["release(held)"] })).toBeNull()
    const prior = earlierState("dynamic", [exampleFinding({ evidence: ["}"] })]).findings
    expect(matchPrior([report({ body: "Other words.", evidence: ["}"] })], prior, nobody)).toEqual([null])
  })

  test("takes the same evidence at another path for a new finding", () => {
    expect(match({ path: "src/b.ts" })).toBeNull()
  })

  test("tells a finding under another title apart from a record the engine named itself", () => {
    const named = new Set([idOf(exampleFinding())])
    expect(match({ title: "Deadlock", body: "Other words." }, named)).toBeNull()
    expect(match({ body: "Other words." }, named)).not.toBeNull()
  })

  test("continues a record once, the exact one first", () => {
    const prior = earlierState("dynamic", [exampleFinding()]).findings
    const matches = matchPrior([report({ body: "Other words." }), report({})], prior, nobody)
    expect(matches.map((record) => record?.finding_id)).toEqual([undefined, idOf(exampleFinding())])
  })

  test("recognises a fingerprint kept as alias", () => {
    const prior = [stockRecord({ x: { v: 1, uid: "u", aliases: [idOf(exampleFinding())] } })]
    expect(matchPrior([report({})], prior, nobody)).toEqual(prior)
  })
})
