import { errorCode } from "@galley/contract/errors"
import { parse } from "smol-toml"
import { describe, expect, test } from "vitest"
import { jobSettings, jobToml } from "./job-settings.ts"

const input = {
  gatewayUrl: "http://127.0.0.1:41000",
  token: "job-token",
  instructions: "Look for defects.",
  maxFindings: 10,
  contextTokens: 100_000,
  outputTokens: 8_192,
  modelCallTimeoutMs: 300_000,
  recordPath: "/jobs/1/scratch/record.jsonl",
}

describe("jobSettings", () => {
  test("points model and GitHub at the gateway, with the job's token for both", () => {
    const settings = jobSettings(input)
    expect(settings.openai).toEqual({ key: "job-token", api_base: "http://127.0.0.1:41000/v1" })
    expect(settings.github).toMatchObject({ base_url: "http://127.0.0.1:41000", user_token: "job-token" })
  })

  // R-KIND-4
  test("names one model and no retry, fallback or settings file of the repository", () => {
    expect(jobSettings(input).config).toMatchObject({
      model: "openai/review",
      fallback_models: [],
      num_retries: 0,
      use_repo_settings_file: false,
      use_global_settings_file: false,
      enable_per_directory_settings: false,
      repo_context_files: [],
    })
  })

  test("waits longer for a model answer than the gateway does", () => {
    expect(jobSettings(input).config?.ai_timeout).toBeGreaterThan(300)
  })
})

describe("jobToml", () => {
  test.each([
    ["quotes, backslashes and braces", `"""x""" '''y''' \\n {{ jinja }} {% raw %}`],
    ["control characters", "a\u0000b\u0007\u007f\u0085\u2028"],
    ["Windows line ends and tabs", "a\r\nb\tc"],
    ["text beyond the basic plane", "漢字 🔍 ﻿"],
  ])("writes %s so that they read back unchanged", (_, instructions) => {
    const read = parse(jobToml(jobSettings({ ...input, instructions })))
    expect(read.pr_reviewer).toMatchObject({ extra_instructions: instructions })
  })

  test("refuses text that PR-Agent's settings reader would evaluate", () => {
    for (const instructions of ["@jinja {{ 1 }}", "\n @format x"]) {
      let code = "ok"
      try {
        jobToml(jobSettings({ ...input, instructions }))
      } catch (error) {
        code = errorCode(error)
      }
      expect(code).toBe("engine_config")
    }
  })

  test("refuses text that TOML cannot hold", () => {
    expect(() => jobToml(jobSettings({ ...input, instructions: "half a character \ud83d" }))).toThrow(
      expect.objectContaining({ code: "engine_config" }),
    )
  })
})
