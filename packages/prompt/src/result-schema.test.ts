import { errorCode } from "@galley/contract/errors"
import { EngineFinding } from "@galley/contract/finding"
import { describe, expect, test } from "vitest"
import { dynamicResultJsonSchema, parseDynamicResult } from "./result-schema.ts"

const finding = {
  title: "Release the lock when the write fails",
  body: "The lock stays taken.",
  path: "src/a.ts",
  startLine: 3,
  endLine: 4,
  priority: "P1",
  confidence: 0.9,
  evidence: ["src/a.ts:3 takes the lock"],
  rules: [],
}
const result = (changes: object = {}) => ({ version: 1, findings: [], resolved: [], confirmed: [], examinedPaths: [], ...changes })
const withFinding = (changes: object) => result({ findings: [{ ...finding, ...changes }] })
const codeOf = (value: unknown) => {
  try {
    parseDynamicResult(value)
    return "accepted"
  } catch (error) {
    return errorCode(error)
  }
}

test("a complete result comes back as it is", () => {
  const value = result({ findings: [finding], resolved: [{ id: "a", evidence: "gone" }], confirmed: ["b"], examinedPaths: ["src/a.ts"] })
  expect(parseDynamicResult(value)).toEqual(value)
})

test("a reported finding is a finding of the neutral form", () => {
  expect(EngineFinding.parse(parseDynamicResult(withFinding({})).findings[0])).toEqual(finding)
})

describe("a result is refused", () => {
  // R-ENG-5
  test.each([
    ["that is no object", null],
    ["that is a list", [result()]],
    ["that is JSON text", JSON.stringify(result())],
    ["of another version", result({ version: 2 })],
    ["with an unknown key", result({ summary: "good" })],
    ["without its list of findings", { version: 1, resolved: [], confirmed: [], examinedPaths: [] }],
    ["with findings that are no list", result({ findings: { 0: finding } })],
    ["with an unknown key in a finding", withFinding({ severity: "high" })],
    ["with an empty path", withFinding({ path: "" })],
    ["with an empty title", withFinding({ title: "" })],
    ["with a body over its bound", withFinding({ body: "x".repeat(8_001) })],
    ["with a line of zero", withFinding({ startLine: 0 })],
    ["with a line that is text", withFinding({ startLine: "3" })],
    ["without a line", withFinding({ startLine: null })],
    ["with an invented priority", withFinding({ priority: "P4" })],
    ["without a priority", withFinding({ priority: null })],
    ["with a confidence above one", withFinding({ confidence: 1.1 })],
    ["with too much evidence", withFinding({ evidence: Array(11).fill("x") })],
    ["with a resolution that has no evidence", result({ resolved: [{ id: "a" }] })],
    ["with an empty confirmed id", result({ confirmed: [""] })],
  ])("%s", (_, value) => {
    expect(codeOf(value)).toBe("engine_output_invalid")
  })

  test("with more findings than any review has", () => {
    expect(codeOf(result({ findings: Array(200).fill(finding) }))).toBe("accepted")
    expect(codeOf(result({ findings: Array(201).fill(finding) }))).toBe("engine_output_invalid")
  })
})

test("one finding at a wrong place, or one too many, does not cost the whole review: validation drops it alone", () => {
  for (const place of [{ path: "/etc/passwd" }, { path: "src/../../a" }, { startLine: 5, endLine: 4 }]) {
    expect(codeOf(withFinding(place))).toBe("accepted")
  }
})

test("the refusal names the place, never the text", () => {
  const value = withFinding({ priority: "secret-name" })
  expect(() => parseDynamicResult(value)).toThrow(/findings\.0\.priority/)
  expect(() => parseDynamicResult(value)).not.toThrow(/secret-name/)
})

test("a title over its bound is shortened visibly, and never inside a character", () => {
  const titleOf = (title: string) => parseDynamicResult(withFinding({ title })).findings[0]?.title
  expect(titleOf("x".repeat(80))).toBe("x".repeat(80))
  expect(titleOf("x".repeat(81))).toBe(`${"x".repeat(79)}…`)
  expect(titleOf(`${"x".repeat(78)}🦀🦀`)).toBe(`${"x".repeat(78)}…`)
})

test("a path below the export root becomes relative", () => {
  const value = { ...withFinding({ path: "/jobs/tree/src/a.ts" }), examinedPaths: ["/jobs/tree/b.ts", "c.ts"] }
  const parsed = parseDynamicResult(value, "/jobs/tree")
  expect(parsed.findings[0]?.path).toBe("src/a.ts")
  expect(parsed.examinedPaths).toEqual(["b.ts", "c.ts"])
  expect(parseDynamicResult(withFinding({ path: "/jobs/trees/a.ts" }), "/jobs/tree").findings[0]?.path).toBe("/jobs/trees/a.ts")
})

describe("the JSON schema", () => {
  const schema = dynamicResultJsonSchema(7)
  const nodes = (node: unknown): Record<string, unknown>[] =>
    typeof node === "object" && node !== null ? [node as Record<string, unknown>, ...Object.values(node).flatMap(nodes)] : []

  test("says everything in place, without references or unions", () => {
    const keys = nodes(schema).flatMap((node) => Object.keys(node))
    expect(keys.filter((key) => ["$ref", "$defs", "$schema", "anyOf", "oneOf", "allOf", "not", "pattern", "format"].includes(key))).toEqual(
      [],
    )
  })

  test("closes every object and requires each of its keys", () => {
    const objects = nodes(schema).filter((node) => node.type === "object")
    expect(objects).toHaveLength(3)
    for (const { properties, required, additionalProperties } of objects) {
      expect(additionalProperties).toBe(false)
      expect(required).toEqual(Object.keys(properties as object))
    }
  })

  test("carries the bounds the parser enforces", () => {
    expect(schema).toMatchObject({
      properties: {
        findings: {
          maxItems: 7,
          items: { properties: { title: { minLength: 1, maxLength: 80 }, confidence: { minimum: 0, maximum: 1 } } },
        },
      },
    })
  })

  test("stays small, as it is sent with every model call", () => {
    expect(JSON.stringify(schema).length).toBeLessThan(1_600)
  })
})
