// R-ENG-2

import { errorCode } from "@galley/contract/errors"
import { describe, expect, test } from "vitest"
import { checkRules } from "./check-rules.ts"

const rule = (permission: string, action: string, pattern = "*") => ({ permission, pattern, action })
const engineDefaults = [rule("*", "allow"), rule("external_directory", "ask"), rule("read", "ask", "*.env")]
const generated = [
  rule("*", "deny"),
  rule("read", "allow"),
  rule("grep", "allow"),
  rule("glob", "allow"),
  rule("StructuredOutput", "allow"),
  rule("doom_loop", "allow"),
  rule("external_directory", "deny"),
  rule("external_directory", "deny", "/jobs/1/scratch/data/opencode/tool-output/*"),
]
const review = { name: "review", hidden: null, permission: [...engineDefaults, ...generated, ...generated] }
const hiddenAgents = ["compaction", "title"].map((name) => ({ name, hidden: true, permission: engineDefaults }))
const baseUrl = "http://127.0.0.1:41000/v1"
const config = {
  enabled_providers: ["proxy"],
  provider: { proxy: { options: { baseURL: baseUrl } } },
  plugin: [],
  mcp: {},
  instructions: [],
  share: "disabled" as const,
  autoupdate: false as const,
  compaction: { auto: false as const, prune: false as const },
}

function verdict(agents: Parameters<typeof checkRules>[0], effective: Parameters<typeof checkRules>[1] = config): string {
  try {
    checkRules(agents, effective, baseUrl)
    return "ok"
  } catch (error) {
    return errorCode(error)
  }
}

describe("checkRules", () => {
  test("accepts the rules the engine shows for the generated configuration", () => {
    expect(verdict([review, ...hiddenAgents])).toBe("ok")
  })

  test.each([
    ["a rule that allows a shell after the deny-all", [rule("bash", "allow")]],
    ["a rule that asks instead of denying", [rule("edit", "ask")]],
    [
      "a directory outside the export that is allowed again",
      [rule("external_directory", "allow", "/jobs/1/scratch/data/opencode/tool-output/*")],
    ],
    ["an allow-all at the end", [rule("*", "allow")]],
  ])("refuses %s", (_, added) => {
    expect(verdict([{ ...review, permission: [...review.permission, ...added] }])).toBe("engine_config")
  })

  test("refuses rules without any deny-all", () => {
    expect(verdict([{ ...review, permission: engineDefaults }])).toBe("engine_config")
  })

  test("refuses rules that took the result tool away", () => {
    const permission = generated.filter((entry) => entry.permission !== "StructuredOutput")
    expect(verdict([{ ...review, permission }])).toBe("engine_config")
  })

  test("refuses a second agent that can be chosen", () => {
    expect(verdict([review, { ...review, name: "build" }])).toBe("engine_config")
    expect(verdict([{ ...review, name: "build" }])).toBe("engine_config")
    expect(verdict([])).toBe("engine_config")
  })

  test.each([
    ["a plugin", { plugin: ["file:///export/.opencode/plugin/x.ts"] }],
    ["an MCP server", { mcp: { x: { type: "local" } } }],
    ["extra instructions", { instructions: ["AGENTS.md"] }],
    ["another provider", { enabled_providers: ["proxy", "openai"] }],
    ["another provider entry", { provider: { ...config.provider, other: { options: { baseURL: baseUrl } } } }],
    ["another address of the model", { provider: { proxy: { options: { baseURL: "http://203.0.113.9/v1" } } } }],
    ["no provider entry", { provider: {} }],
  ])("refuses %s that was merged into the configuration", (_, change) => {
    expect(verdict([review], { ...config, ...change })).toBe("engine_config")
  })
})
