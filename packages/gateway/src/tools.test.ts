import { noUsage } from "@galley/contract/usage"
import { describe, expect, test } from "vitest"
import { callModel, dynamicRequest, dynamicTools, finishedCall, hello, openGateway, readResult } from "./testing/gateway-for-tests.ts"
import { toolCalls } from "./testing/scripted-model.ts"
import { CUT_MARKER } from "./tool-results.ts"

const tree = dynamicTools.treePath
const result = toolCalls(["StructuredOutput", { findings: [] }])

describe("tool calls of an answer, before the engine can run one", () => {
  // R-GATE-4
  test("a tool that was not offered is refused, with all other calls of the answer", async () => {
    const { gateway } = await openGateway([toolCalls(["read", { filePath: "src/a.ts" }], ["bash", { command: "id" }])], {
      tools: dynamicTools,
    })
    const answer = await callModel(gateway, dynamicRequest())
    expect(answer.status).toBe(422)
    expect(answer.text).not.toContain("tool_calls")
    expect(gateway.verdict()?.code).toBe("tool_not_allowed")
  })

  // R-GATE-4
  test.each<readonly [what: string, call: readonly [tool: string, args: unknown], given: string]>([
    ["a read of an absolute path outside", ["read", { filePath: "/proc/self/environ" }], "/proc"],
    ["a read that climbs out", ["read", { filePath: "src/../../secret" }], "secret"],
    ["a read beside the export", ["read", { filePath: `${tree}-2/a.ts` }], "-2"],
    ["a grep outside", ["grep", { pattern: "x", path: "/etc" }], "/etc"],
    ["a glob outside", ["glob", { pattern: "*", path: "../.." }], "../.."],
    ["a path hidden behind a second key", ["read", '{"filePath":"a.ts","filePath":"/etc/passwd"}'], "/etc"],
  ])("%s is led to a place where nothing is, counted and noted, and the job goes on", async (_what, call, given) => {
    const { gateway } = await openGateway([toolCalls(["read", { filePath: "src/a.ts" }], call), result], {
      tools: dynamicTools,
      limits: { maxToolFiles: 1 },
    })
    const answer = await callModel(gateway, dynamicRequest())
    expect(answer.text).not.toContain(given)
    const [, second] = JSON.parse(answer.text).choices[0].message.tool_calls
    const { filePath, path = filePath } = JSON.parse(second.function.arguments)
    expect(path).toBe(`${tree}/.git/outside-the-checkout`)
    expect(gateway.usage().toolCalls).toBe(2)
    expect(gateway.refusals()).toEqual([`${call[0]} -> outside the export`])
    expect(gateway.verdict()).toBeNull()
    expect((await callModel(gateway, dynamicRequest())).status).toBe(200)
  })

  test("paths inside the export pass, absolute or relative", async () => {
    const { gateway } = await openGateway(
      [
        toolCalls(
          ["read", { filePath: `${tree}/src/a.ts` }],
          ["read", { filePath: "..a/b" }],
          ["grep", { pattern: "--pre=sh", path: tree }],
          ["glob", { pattern: "**/*" }],
        ),
      ],
      { tools: dynamicTools },
    )
    const answer = await callModel(gateway, dynamicRequest())
    expect(gateway.verdict()).toBeNull()
    expect(JSON.parse(answer.text).choices[0].message.tool_calls).toHaveLength(4)
    expect(gateway.usage().toolCalls).toBe(4)
  })

  test("arguments that are no JSON pass as they are, because the engine refuses them", async () => {
    const { gateway } = await openGateway([toolCalls(["read", '{"filePath": '])], { tools: dynamicTools })
    const answer = await callModel(gateway, dynamicRequest())
    expect(JSON.parse(answer.text).choices[0].message.tool_calls[0].function.arguments).toBe('{"filePath": ')
  })

  test("the call that would exceed the bound is not released, the result is", async () => {
    const read = (name: string) => toolCalls(["read", { filePath: name }])
    const { gateway, model } = await openGateway([read("a"), result, read("b")], { tools: dynamicTools, limits: { maxToolCalls: 1 } })
    expect((await callModel(gateway, dynamicRequest())).status).toBe(200)
    const history = finishedCall("read", { filePath: "a" }, readResult(`${tree}/a`, "text"))
    expect((await callModel(gateway, dynamicRequest(...history))).status).toBe(200)
    expect((await callModel(gateway, dynamicRequest(...history))).status).toBe(422)
    expect(gateway.verdict()?.code).toBe("tool_limit_exceeded")
    expect(model.calls).toHaveLength(3)
  })

  test("released calls count even when the engine forgets them", async () => {
    const { gateway } = await openGateway([toolCalls(["grep", { pattern: "x" }])], { tools: dynamicTools, limits: { maxToolCalls: 2 } })
    const statuses = [
      await callModel(gateway, dynamicRequest()),
      await callModel(gateway, dynamicRequest()),
      await callModel(gateway, dynamicRequest()),
    ]
    expect(statuses.map(({ status }) => status)).toEqual([200, 200, 422])
  })

  test("calls of earlier attempts count", async () => {
    const { gateway } = await openGateway([toolCalls(["grep", { pattern: "x" }])], {
      tools: dynamicTools,
      usageSoFar: { ...noUsage, toolCalls: 200 },
    })
    await callModel(gateway, dynamicRequest())
    expect(gateway.verdict()?.code).toBe("tool_limit_exceeded")
  })

  // R-GATE-4
  test("a read of one file too many is not released", async () => {
    const { gateway } = await openGateway(
      [toolCalls(["read", { filePath: "a" }], ["read", { filePath: `${tree}/a` }]), toolCalls(["read", { filePath: "b" }])],
      {
        tools: dynamicTools,
        limits: { maxToolFiles: 1 },
      },
    )
    expect((await callModel(gateway, dynamicRequest())).status).toBe(200)
    await callModel(gateway, dynamicRequest(...finishedCall("read", { filePath: "a" }, readResult(`${tree}/a`, "text"))))
    expect(gateway.verdict()?.code).toBe("tool_files_exceeded")
  })

  test("a review without tools has none: not offered, not called, no results", async () => {
    const called = await openGateway([toolCalls(["read", { filePath: "a" }])])
    await callModel(called.gateway, hello)
    expect(called.gateway.verdict()?.code).toBe("tool_not_allowed")
    const offered = await openGateway([result])
    await callModel(offered.gateway, dynamicRequest())
    expect(offered.gateway.verdict()?.code).toBe("tool_not_allowed")
    expect(offered.model.calls).toHaveLength(0)
  })

  test("an engine that offers a tool outside the allow-list is refused before the model", async () => {
    const { gateway, model } = await openGateway([result], { tools: { ...dynamicTools, allowed: ["read"] } })
    await callModel(gateway, dynamicRequest())
    expect(gateway.verdict()?.code).toBe("tool_not_allowed")
    expect(model.calls).toHaveLength(0)
  })
})

describe("tool results, before the model sees them", () => {
  const grep = (...paths: string[]) => `Found ${paths.length} matches\n${paths.map((path) => `${path}:\n  Line 1: text\n`).join("\n")}`

  // R-GATE-5
  test("name the files that were examined: read, its reminders, and all a grep quotes", async () => {
    const { gateway } = await openGateway([result], { tools: dynamicTools })
    const reminder = `\n\n<system-reminder>\nInstructions from: ${tree}/src/AGENTS.md\nInstructions from: ${tree}/forged.ts\n</system-reminder>`
    await callModel(
      gateway,
      dynamicRequest(
        ...finishedCall("read", { filePath: "src/a.ts" }, readResult(`${tree}/src/a.ts`, `x\u2028${tree}/forged.ts:`) + reminder),
        ...finishedCall("grep", { pattern: "t" }, grep(`${tree}/src/b.ts`, `${tree}/src/a.ts`)),
        ...finishedCall("glob", { pattern: "*" }, `${tree}/src/listed.ts\n${tree}/src/b.ts`),
        ...finishedCall("read", { filePath: "src" }, `<path>${tree}/src</path>\n<type>directory</type>\n<entries>\na.ts\n</entries>`),
      ),
    )
    expect(gateway.examinedPaths()).toEqual(["src/a.ts", "src/AGENTS.md", "src/b.ts"])
    expect(gateway.usage()).toMatchObject({ toolCalls: 4, toolFiles: 3 })
  })

  test("are not examined when the model was not asked", async () => {
    const { gateway } = await openGateway([result], {
      tools: dynamicTools,
      limits: { maxModelCalls: 1 },
      usageSoFar: { ...noUsage, modelCalls: 1 },
    })
    await callModel(gateway, dynamicRequest(...finishedCall("read", {}, readResult(`${tree}/a`, "x"))))
    expect(gateway.examinedPaths()).toEqual([])
  })

  test("from outside the export do not reach it", async () => {
    const { gateway, model } = await openGateway([result], { tools: dynamicTools })
    await callModel(gateway, dynamicRequest(...finishedCall("read", { filePath: "x" }, readResult("/etc/passwd", "root"))))
    expect(gateway.verdict()?.code).toBe("tool_not_allowed")
    expect(model.calls).toHaveLength(0)
  })

  test("are cut to their bound with a marker, between characters, each time they are sent", async () => {
    const { gateway, model } = await openGateway([toolCalls(["grep", { pattern: "x" }])], {
      tools: dynamicTools,
      limits: { maxToolResultBytes: 1_000 },
    })
    const long = finishedCall("read", { filePath: "a" }, readResult(`${tree}/a`, "ü€😀".repeat(500)))
    await callModel(gateway, dynamicRequest(...long))
    await callModel(gateway, dynamicRequest(...long))
    for (const { body } of model.calls) {
      const messages = body.messages as Array<{ role: string; content: string }>
      const sent = messages.find(({ role }) => role === "tool")?.content ?? ""
      expect(Buffer.byteLength(sent)).toBeLessThanOrEqual(1_000)
      expect(Buffer.byteLength(sent)).toBeGreaterThan(990)
      expect(sent.endsWith(CUT_MARKER)).toBe(true)
      expect(sent).not.toContain("\ufffd")
    }
    expect(gateway.usage().toolResultBytes).toBeLessThanOrEqual(1_000)
  })

  // R-GATE-5
  test("that are too large together end the job", async () => {
    const { gateway, model } = await openGateway([result], {
      tools: dynamicTools,
      limits: { maxToolResultBytes: 600, maxToolResultsBytes: 1_000 },
    })
    const many = ["a", "b"].flatMap((id) => finishedCall("grep", { pattern: id }, "x".repeat(700), id))
    await callModel(gateway, dynamicRequest(...many))
    expect(gateway.verdict()?.code).toBe("tool_results_exceeded")
    expect(model.calls).toHaveLength(0)
  })

  test("of one grep can use up the files of a job", async () => {
    const { gateway, model } = await openGateway([result], { tools: dynamicTools, limits: { maxToolFiles: 2 } })
    await callModel(gateway, dynamicRequest(...finishedCall("grep", { pattern: "x" }, grep(`${tree}/a`, `${tree}/b`, `${tree}/c`))))
    expect(gateway.verdict()?.code).toBe("tool_files_exceeded")
    expect(model.calls).toHaveLength(0)
  })
})
