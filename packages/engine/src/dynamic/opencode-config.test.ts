import { describe, expect, test } from "vitest"
import { openCodeConfig } from "./opencode-config.ts"

const config = openCodeConfig({
  gatewayUrl: "http://127.0.0.1:41000",
  token: "job-token",
  systemPrompt: "fixed rules",
  dataHome: "/jobs/1/scratch/data",
  contextTokens: 128_000,
  outputTokens: 8_192,
  modelCallTimeoutMs: 300_000,
})

describe("openCodeConfig", () => {
  // R-ENG-2
  test("denies everything first and then allows only reading, repeating itself and the structured result", () => {
    expect(Object.entries(config.permission)).toEqual([
      ["*", "deny"],
      ["read", "allow"],
      ["grep", "allow"],
      ["glob", "allow"],
      ["StructuredOutput", "allow"],
      ["doom_loop", "allow"],
      ["external_directory", { "*": "deny", "/jobs/1/scratch/data/opencode/tool-output/*": "deny" }],
    ])
    expect(config.agent.review.permission).toEqual(config.permission)
  })

  test("switches every other agent off and gives review the composed system prompt", () => {
    const { review, ...others } = config.agent
    expect(Object.values(others)).toEqual(Array(4).fill({ disable: true }))
    expect(review.prompt).toBe("fixed rules")
  })

  test("knows the gateway as its only provider, with the job's token and limits", () => {
    expect(config.enabled_providers).toEqual(["proxy"])
    expect(config.provider.proxy?.options).toMatchObject({ baseURL: "http://127.0.0.1:41000/v1", apiKey: "job-token" })
    expect(config.provider.proxy?.models.review?.limit).toEqual({ context: 128_000, output: 8_192 })
  })

  test("waits longer for a model answer than the gateway does", () => {
    expect(config.provider.proxy?.options.headerTimeout).toBeGreaterThan(300_000)
    expect(config.provider.proxy?.options.chunkTimeout).toBeGreaterThan(300_000)
  })

  test("leaves compaction, sharing, snapshots and extensions off", () => {
    expect(config).toMatchObject({
      compaction: { auto: false, prune: false },
      share: "disabled",
      snapshot: false,
      plugin: [],
      mcp: {},
      instructions: [],
      lsp: false,
      formatter: false,
    })
  })
})
