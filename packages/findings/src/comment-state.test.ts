import { errorCode } from "@galley/contract/errors"
import type { FindingState } from "@galley/contract/finding"
import { describe, expect, test } from "vitest"
import { isGalleyComment, MARKER, parseComment, serialiseState, stateBlock, stateDigest } from "./comment-state.ts"
import { fixture, stockRecord } from "./testing/example-run.ts"

const comment = (block: string) => `## Galley\n\n${MARKER}\n\ntext\n\n${block}`
const block = (json: string, version = "v1") => `<!-- pr-agent-review-state:${version}\n${json}\n-->\n`
const stateOf = (...findings: FindingState["findings"]): FindingState => ({ schema_version: 1, findings })
const codeOf = (body: string) => {
  try {
    parseComment(body)
    return "no error"
  } catch (error) {
    return errorCode(error)
  }
}

describe("PR-Agent's own comments", () => {
  const fixtures = [
    ["first-run.md", 2],
    ["second-run.in.md", 3],
    ["second-run.md", 3],
    ["many-resolved.in.md", 25],
    ["many-resolved.md", 20],
    ["odd-text.md", 1],
    ["marker-literal.md", 2],
    ["empty.md", 0],
  ] as const

  // R-FIND-5
  test.each(fixtures)("%s is read whole and comes back without loss", (name, count) => {
    const body = fixture(name)
    const state = parseComment(body)?.state
    expect(state?.findings).toHaveLength(count)
    expect(state).toEqual(JSON.parse(body.trimEnd().split("\n").at(-2) ?? ""))
    expect(parseComment(comment(stateBlock(state ?? stateOf())))?.state).toEqual(state)
  })

  // R-FIND-6
  test("the block of the output record equals the block of the comment", () => {
    const { markdown } = JSON.parse(fixture("first-run.record.jsonl"))
    expect(isGalleyComment(markdown)).toBe(false)
    expect(parseComment(`${MARKER}\n${markdown}`)).toEqual(parseComment(fixture("first-run.md")))
  })

  test("a finding that quotes a whole block and the marker is text like any other", () => {
    const bodies = parseComment(fixture("marker-literal.md"))?.state.findings.map((record) => record.body)
    expect(bodies?.[1]).toContain("<!-- pr-agent-review-state:v1\n")
  })
})

describe("parseComment", () => {
  test("finds nothing in a comment without the marker in its first five lines", () => {
    expect(parseComment(`hello\n\n${block('{"schema_version":1,"findings":[]}')}`)).toBeNull()
    expect(parseComment(`1\n2\n3\n4\n5\n${MARKER}\n${block('{"schema_version":1,"findings":[]}')}`)).toBeNull()
    expect(parseComment(`quoted ${MARKER}\n`)).toBeNull()
  })

  test("finds nothing in a marked comment without block", () => {
    expect(parseComment(comment("nothing found\n"))).toBeNull()
  })

  test("reads a comment which a web form gave other line ends", () => {
    expect(parseComment(comment(stateBlock(stateOf(stockRecord()))).replaceAll("\n", "\r\n"))?.state.findings).toHaveLength(1)
  })

  // R-FIND-7
  test.each([
    ["an unknown version", block('{"schema_version":2,"findings":[]}', "v2")],
    ["an unknown version within the state", block('{"schema_version":2,"findings":[]}')],
    ["a cut block", '<!-- pr-agent-review-state:v1\n{"schema_version":1,"fin'],
    ["text after the block", `${block('{"schema_version":1,"findings":[]}')}more`],
    ["two blocks", block('{"schema_version":1,"findings":[]}').repeat(2)],
    ["two blocks, the first quoted", `> x\n${block('{"schema_version":1,"findings":[]}')}\n${block('{"schema_version":1,"findings":[]}')}`],
    ["something that is no JSON", block("{schema_version:1}")],
    ["a record without body", block(JSON.stringify(stateOf({ ...stockRecord(), body: "" })))],
    ["a record in an unknown state", block(JSON.stringify({ ...stateOf(), findings: [{ ...stockRecord(), state: "DISMISSED" }] }))],
    [
      "an extension of an unknown version",
      block(JSON.stringify({ ...stateOf(), findings: [{ ...stockRecord(), x: { v: 2, uid: "u" } }] })),
    ],
    ["the same finding id twice", block(JSON.stringify(stateOf(stockRecord(), stockRecord())))],
    [
      "the same uid twice",
      block(JSON.stringify(stateOf(stockRecord({ x: { v: 1, uid: "u" } }), stockRecord({ finding_id: "b", x: { v: 1, uid: "u" } })))),
    ],
    ["endless nesting", block(`{"schema_version":1,"findings":[],"deep":${"[".repeat(20_000)}${"]".repeat(20_000)}}`)],
  ])("stops at %s", (_name, text) => {
    expect(codeOf(comment(text))).toBe("finding_state_invalid")
  })

  test("stops at more than 1,000 records and at a body GitHub could not hold", () => {
    const records = Array.from({ length: 1_001 }, (_, index) => ({ finding_id: `${index}`, state: "ACTIVE", body: "b", path: "p" }))
    expect(codeOf(comment(block(JSON.stringify({ schema_version: 1, findings: records }))))).toBe("finding_state_too_large")
    expect(codeOf(comment(block(`{"schema_version":1,"findings":[],"fill":"${"x".repeat(10_000_000)}"}`)))).toBe("finding_state_too_large")
  })

  test("reads a state near 65,000 characters", () => {
    const state = stateOf(stockRecord({ body: "é".repeat(64_000) }))
    expect(parseComment(comment(stateBlock(state)))?.state).toEqual(state)
  })

  // R-FIND-5
  test("keeps unknown keys at every level", () => {
    const state = {
      schema_version: 1,
      extra: [null, 1.5, { deep: true }],
      findings: [{ ...stockRecord(), theirs: { a: 1 }, x: { v: 1, uid: "u", later: ["é"] } }],
      last_run: { head_sha: "h", other: {} },
    }
    expect(parseComment(comment(block(JSON.stringify(state))))?.state).toEqual(state)
  })
})

describe("serialiseState", () => {
  test("is one line with sorted keys in which nothing closes a comment or mentions anybody", () => {
    const body = "a --> b --!> <!-- x --> @octo-org/admins\nline\u2028sep\u0085end"
    const json = serialiseState(stateOf(stockRecord({ body })))
    expect(json).not.toMatch(/[<>@\n\u2028\u0085]/)
    expect(json.indexOf('"body"')).toBeLessThan(json.indexOf('"finding_id"'))
    expect(JSON.parse(json).findings[0].body).toBe(body)
  })
})

describe("stateDigest", () => {
  test("is equal for equal states however their keys are ordered, and differs for others", () => {
    const record = stockRecord()
    const reversed = Object.fromEntries(Object.entries(record).reverse())
    expect(stateDigest(JSON.parse(JSON.stringify({ findings: [reversed], schema_version: 1 })))).toBe(stateDigest(stateOf(record)))
    expect(stateDigest(stateOf(stockRecord({ state: "RESOLVED" })))).not.toBe(stateDigest(stateOf(record)))
  })
})
