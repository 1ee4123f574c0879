import { readFileSync } from "node:fs"
import { errorCode } from "@galley/contract/errors"
import type { FindingState } from "@galley/contract/finding"
import { describe, expect, test } from "vitest"
import { issueFindings } from "./issue-findings.ts"
import { judgeRun } from "./judge-run.ts"

const recordText = readFileSync(new URL("../fixtures/first-run.record.jsonl", import.meta.url), "utf8")
const traces = { exitCode: 0, exitSignal: null, recordText, modelAnswers: 1 }
const { issues, state } = judgeRun(traces, "dd6803558bd1e09cee63c2b42c3e014ff0625c0f")

const stateWith = (finding_id: string, path: string, body: string): FindingState => ({
  schema_version: 1,
  findings: [{ finding_id, state: "ACTIVE", path, body }],
})
/** Id of "src/a.py" with this header and content, from PR-Agent's own test vector. */
const known = stateWith("46e1356d6364", "src/a.py", "**Possible Issue**\n\nThe lock is   never released --> ever.")
const issue = {
  relevant_file: "src/a.py",
  issue_header: "Possible Bug",
  issue_content: "The lock is   never released --> ever.",
  start_line: 3,
  end_line: 4,
}
const only = (change: object) => issueFindings([{ ...issue, ...change }], known).findings[0]

describe("issueFindings", () => {
  // R-FIND-9
  test("reads a real record: trimmed values, PR-Agent's header and its ids", () => {
    const { findings, fingerprints } = issueFindings(issues, state)
    expect(fingerprints).toEqual(["6fee02754b18", "5d19930a0b40"])
    expect(findings[0]).toEqual({
      title: "Possible Issue",
      body: "The lock taken by `lock()` is   never released --> ever.\nSecond line.",
      path: "src/a.js",
      startLine: 10,
      endLine: 11,
      priority: null,
      confidence: null,
      evidence: [],
      rules: [],
    })
  })

  test("spells path and lines as PR-Agent does", () => {
    expect(only({ relevant_file: " `/src/a.py`\n", start_line: " 3\n", end_line: "x" })).toMatchObject({
      path: "src/a.py",
      startLine: 3,
      endLine: 3,
    })
    expect(only({ start_line: 9, end_line: 2 })).toMatchObject({ startLine: 9, endLine: 9 })
    expect(only({ start_line: 0, end_line: 5 })).toMatchObject({ startLine: null, endLine: null })
    expect(only({ start_line: null, end_line: undefined })).toMatchObject({ startLine: null, endLine: null })
  })

  test("leaves out an issue without file or text and takes the same issue only once", () => {
    const result = issueFindings(
      [{ ...issue, relevant_file: "" }, issue, { ...issue, issue_content: "\n" }, { ...issue, start_line: 7 }],
      known,
    )
    expect(result.findings).toHaveLength(1)
    expect(result.fingerprints).toEqual(["46e1356d6364"])
  })

  test("takes PR-Agent's id where the two Unicode versions disagree, as long as path and text are the record's", () => {
    const body = "**Possible Issue**\n\nThe lock is   never released --> ever."
    expect(issueFindings([issue], stateWith("0123456789ab", "src/a.py", body)).fingerprints).toEqual(["0123456789ab"])
  })

  test("fails when an issue has no record in the state", () => {
    let code = "ok"
    try {
      issueFindings([{ ...issue, relevant_file: "src/b.py" }], known)
    } catch (error) {
      code = errorCode(error)
    }
    expect(code).toBe("engine_output_invalid")
  })

  test("shortens a long title with a mark and never inside a character", () => {
    const header = `${"a".repeat(78)}🔍 tail`
    const long = stateWith("x", "src/a.py", `**${header}**\n\ntext`)
    const title = issueFindings([{ ...issue, issue_header: header, issue_content: "text" }], long).findings[0]?.title ?? ""
    expect(title).toBe(`${"a".repeat(78)}…`)
  })

  test("titles an issue without a header by its text", () => {
    const bare = stateWith("x", "src/a.py", "Never\nreleased.")
    expect(issueFindings([{ ...issue, issue_header: "", issue_content: "Never\nreleased." }], bare).findings[0]?.title).toBe(
      "Never released.",
    )
  })
})
