import { readFile } from "node:fs/promises"
import { describe, expect, test } from "vitest"
import { ChatRequest } from "./chat-request.ts"
import { genericScript } from "./generic-script.ts"
import { scriptedBody } from "./scripted-finding.ts"
import type { Step } from "./step.ts"

const fixture = async (name: string) =>
  ChatRequest.parse(JSON.parse(await readFile(new URL(`fixtures/${name}.json`, import.meta.url), "utf8")))
const ask = (changes: object): ChatRequest => ChatRequest.parse({ model: "m", messages: [{ role: "user", content: "Hello" }], ...changes })
const resultOf = (step: Step) => {
  expect(step.calls?.map(({ name }) => name)).toEqual(["StructuredOutput"])
  return step.calls?.[0]?.args
}
/** The request with the model's step and these tool results added. */
const answered = (request: ChatRequest, step: Step, results: readonly string[]): ChatRequest => {
  const ids = results.map((_, index) => `c${request.messages.length}_${index}`)
  const tool_calls = (step.calls ?? []).map(({ name, args }, index) => ({
    id: ids[index] ?? "",
    function: { name, arguments: JSON.stringify(args) },
  }))
  const tools = results.map((content, index) => ({ role: "tool", tool_call_id: ids[index] ?? "", content }))
  return { ...request, messages: [...request.messages, { role: "assistant", content: "", tool_calls }, ...tools] }
}
const withUserText = (request: ChatRequest, change: (text: string) => string): ChatRequest => ({
  ...request,
  messages: request.messages.map((message) =>
    message.role === "user" ? { ...message, content: change(String(message.content)) } : message,
  ),
})

describe("for OpenCode", () => {
  test("reads a changed file, searches for a name the change added, then reports one finding on that line", async () => {
    const first = await fixture("opencode-first")
    const read = genericScript(first)
    expect(read.calls).toEqual([{ name: "read", args: { filePath: "/jobs/tree/src/a.js" } }])
    const second = answered(first, read, ["10: let a10 = lock();\n(End of file - total 41 lines)"])
    const grep = genericScript(second)
    expect(grep.calls).toEqual([{ name: "grep", args: { pattern: "a10" } }])
    expect(resultOf(genericScript(answered(second, grep, ["Found 1 matches"])))).toMatchObject({
      version: 1,
      findings: [{ path: "src/a.js", startLine: 10, endLine: 10, priority: "P3", title: "Scripted finding: check a10" }],
      resolved: [],
      confirmed: [],
    })
  })

  test("confirms what is still there, resolves what a read disproves, and reports nothing twice", async () => {
    expect(resultOf(genericScript(await fixture("opencode-second")))).toEqual({
      version: 1,
      findings: [],
      confirmed: ["f1", "f3"],
      resolved: [
        { id: "f2", evidence: "src/a.js no longer contains goneName" },
        { id: "f4", evidence: "src/gone.js no longer exists" },
      ],
      examinedPaths: ["src/a.js", "src/new.js", "src/gone.js"],
    })
  })

  test("names no earlier finding whose file it saw only in part", async () => {
    const request = await fixture("opencode-second")
    const cut = {
      ...request,
      messages: request.messages.map((m) => ({ ...m, content: String(m.content ?? "").replace("(End of file", "(Showing lines") })),
    }
    expect(resultOf(genericScript(cut))).toMatchObject({ confirmed: ["f1", "f3"], resolved: [{ id: "f4" }] })
  })

  test("finds nothing where no line was added", async () => {
    const request = withUserText(await fixture("opencode-first"), (text) => text.replace(/^\+.*$/gm, ""))
    expect(resultOf(genericScript(request))).toMatchObject({ findings: [], confirmed: [] })
  })

  test("searches for a name with a dollar sign literally", async () => {
    const request = withUserText(await fixture("opencode-first"), (text) => text.replace("+let a10", "+let $a10"))
    expect(genericScript(answered(request, genericScript(request), [""])).calls).toEqual([{ name: "grep", args: { pattern: "\\$a10" } }])
  })
})

describe("for PR-Agent", () => {
  const issue = (path: string, header: string, content: string, line: number, end = line) => `
    - relevant_file: ${JSON.stringify(path)}
      issue_header: ${JSON.stringify(header)}
      issue_content: ${JSON.stringify(content)}
      start_line: ${line}
      end_line: ${end}`
  const review = (issues: string) => `review:
  estimated_effort_to_review_[1-5]: 1
  relevant_tests: |
    No
  key_issues_to_review:${issues}
  security_concerns: |
    No
`

  test("reports one finding on the first added line of the diff, not of a description that imitates one", async () => {
    const step = genericScript(await fixture("pr-agent-first"))
    expect(step).toEqual({ say: review(issue("src/a.js", "Scripted finding", scriptedBody("a10"), 10)) })
  })

  test("repeats standing findings word for word and adds none it already reported", async () => {
    const odd =
      "Tabs\there, quotes ' and \\ and `code`: # not a comment\n\n  indented: - list\n🦀 日本 \u2028 end\n\n```js\nlet x = {a: 1}\n```"
    const expected = issue("src/a.js", "Scripted finding", scriptedBody("a10"), 10) + issue("src/new.js", 'Odd "text"', odd, 2, 3)
    expect(genericScript(await fixture("pr-agent-second"))).toEqual({ say: review(expected.replace("\u2028", "\\u2028")) })
  })

  test("leaves out a scripted finding whose line is gone", async () => {
    const request = withUserText(await fixture("pr-agent-second"), (text) =>
      text.replaceAll("+let a10", "+let b10").replaceAll("use(a10)", "use(b10)"),
    )
    const step = genericScript(request)
    expect(step.say).not.toContain("`a10`")
    expect(step.say).toContain("`b10`")
  })

  test("does not report again what a reviewer dismissed", async () => {
    const request = withUserText(await fixture("pr-agent-second"), (text) => text.replace('"state": "active"', '"state": "dismissed"'))
    expect(genericScript(request).say).not.toContain("`a10`")
  })

  test("keeps to the number of issues the prompt asks for", async () => {
    const request = await fixture("pr-agent-second")
    const one = {
      ...request,
      messages: request.messages.map((m) => ({ ...m, content: String(m.content).replace("(0-30 issues)", "(0-1 issues)") })),
    }
    expect(genericScript(one).say?.match(/relevant_file/g)).toHaveLength(1)
  })

  test("finds nothing where no line was added", async () => {
    const request = withUserText(await fixture("pr-agent-first"), (text) => text.replace(/^\d+ \+.*$/gm, ""))
    expect(genericScript(request)).toEqual({ say: review(" []") })
  })
})

describe("for anything else", () => {
  const parameters = {
    type: "object",
    required: ["ok", "count", "word", "list", "inner", "kind", "maybe"],
    properties: {
      ok: { type: "boolean" },
      count: { type: "integer", minimum: 2 },
      word: { type: "string", minLength: 3 },
      list: { type: "array", minItems: 1, items: { const: 7 } },
      inner: { type: "object", required: [], properties: { optional: { type: "string" } } },
      kind: { type: "string", enum: ["P0", "P1"] },
      maybe: { anyOf: [{ type: "null" }, { type: "string" }] },
    },
  }
  const sample = '{"ok":false,"count":2,"word":"xxx","list":[7],"inner":{},"kind":"P0","maybe":null}'
  const tools = ["first", "second"].map((name) => ({ type: "function", function: { name, parameters } }))

  test("calls a required tool with arguments its schema accepts", () => {
    expect(genericScript(ask({ tools, tool_choice: "required" }))).toEqual({ calls: [{ name: "first", args: sample }] })
    expect(genericScript(ask({ tools, tool_choice: { type: "function", function: { name: "second" } } }))).toEqual({
      calls: [{ name: "second", args: sample }],
    })
  })

  test("fills in a requested JSON schema", () => {
    const response_format = { type: "json_schema", json_schema: { name: "x", schema: parameters } }
    expect(genericScript(ask({ response_format }))).toEqual({ say: sample })
  })

  test("answers in text when no tool is required", () => {
    expect(genericScript(ask({ tools, tool_choice: "auto" }))).toEqual({ say: "This is the scripted model." })
    expect(genericScript(ask({}))).toEqual({ say: "This is the scripted model." })
  })
})
