// R-ENG-6

import { readFileSync } from "node:fs"
import { errorCode } from "@galley/contract/errors"
import { describe, expect, test } from "vitest"
import { judgeRun, type RunTraces } from "./judge-run.ts"

const HEAD = "dd6803558bd1e09cee63c2b42c3e014ff0625c0f"
const recordText = readFileSync(new URL("../fixtures/first-run.record.jsonl", import.meta.url), "utf8")
const good: RunTraces = { exitCode: 0, exitSignal: null, recordText, modelAnswers: 1 }

function code(change: Partial<RunTraces>, head = HEAD): string {
  try {
    judgeRun({ ...good, ...change }, head)
    return "ok"
  } catch (error) {
    return errorCode(error)
  }
}

/** The real record with one thing changed. */
function record(change: (value: { markdown: string; payload: object }) => void): string {
  const value = JSON.parse(recordText)
  change(value)
  return `${JSON.stringify(value)}\n`
}

describe("judgeRun", () => {
  test("takes a real record with its issues, its state and its own word on completeness", () => {
    const run = judgeRun(good, HEAD)
    expect(run.issues).toHaveLength(2)
    expect(run.state.findings.map((finding) => finding.finding_id)).toEqual(["5d19930a0b40", "6fee02754b18"])
    expect([run.complete, run.excludedFiles]).toEqual([true, []])
  })

  test.each([
    ["a wrong argument", { exitCode: 2 }, "engine_config"],
    ["a failed run, even with a record", { exitCode: 1 }, "engine_failed"],
    ["a process ended by a signal", { exitCode: null, exitSignal: "SIGSEGV" }, "engine_crashed"],
    ["no model answer at all", { modelAnswers: 0 }, "engine_no_output"],
    ["no record", { recordText: "" }, "engine_no_output"],
    ["two records", { recordText: recordText + recordText }, "engine_no_output"],
    ["a record that is not JSON", { recordText: "{" }, "engine_no_output"],
  ])("fails for %s", (_, change, wanted) => {
    expect(code(change)).toBe(wanted)
  })

  test("fails for a standalone review, which has no state block", () => {
    expect(code({ recordText: record((value) => Object.assign(value, { markdown: "## Standalone PR Review\n\nx\n" })) })).toBe(
      "engine_no_output",
    )
  })

  test("fails when text follows the state block", () => {
    expect(code({ recordText: record((value) => Object.assign(value, { markdown: `${value.markdown}more\n` })) })).toBe("engine_no_output")
  })

  test("fails when the state names another head", () => {
    expect(code({}, "a".repeat(40))).toBe("engine_no_output")
  })

  test("fails when the issues are no list of objects", () => {
    expect(code({ recordText: record((value) => Object.assign(value.payload, { key_issues_to_review: ["text"] })) })).toBe(
      "engine_no_output",
    )
    expect(code({ recordText: record((value) => Object.assign(value, { payload: {} })) })).toBe("engine_no_output")
  })

  test("fails for a record of another command", () => {
    expect(code({ recordText: record((value) => Object.assign(value, { type: "describe" })) })).toBe("engine_no_output")
  })
})
