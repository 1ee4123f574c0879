import { errorCode } from "@galley/contract/errors"
import { describe, expect, test } from "vitest"
import { structuredResult } from "./structured-result.ts"

const empty = { version: 1, findings: [], resolved: [], confirmed: [], examinedPaths: [] }
const treePath = "/jobs/1/tree"

function code(info: { error?: { name: string }; structured?: unknown }): string {
  try {
    structuredResult({ info }, treePath)
    return "ok"
  } catch (error) {
    return errorCode(error)
  }
}

describe("structuredResult", () => {
  test("takes a valid result without findings", () => {
    expect(structuredResult({ info: { structured: empty } }, treePath).findings).toEqual([])
  })

  // R-ENG-5
  test("never takes a missing result for no findings", () => {
    expect(code({})).toBe("engine_no_output")
    expect(code({ structured: null })).toBe("engine_no_output")
  })

  test("ignores a result that comes with an error", () => {
    expect(code({ structured: empty, error: { name: "UnknownError" } })).toBe("engine_failed")
  })

  test.each([
    ["StructuredOutputError", "engine_no_output"],
    ["ContextOverflowError", "model_window_exceeded"],
    ["ContentFilterError", "model_answer_cut"],
    ["APIError", "engine_failed"],
  ])("gives the engine's %s the code %s", (name, wanted) => {
    expect(code({ error: { name } })).toBe(wanted)
  })

  // R-ENG-5
  test("refuses a result that breaks its schema, which the engine itself lets through", () => {
    expect(code({ structured: { ...empty, version: "x" } })).toBe("engine_output_invalid")
    expect(code({ structured: { ...empty, extra: 1 } })).toBe("engine_output_invalid")
  })
})
