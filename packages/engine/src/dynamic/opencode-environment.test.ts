import { describe, expect, test } from "vitest"
import { openCodeDirectories, openCodeEnvironment } from "./opencode-environment.ts"

const directories = openCodeDirectories("/jobs/1/scratch", "/jobs/1/run")
const environment = openCodeEnvironment(directories, {
  ripgrepDirectory: "/opt/galley/rg",
  password: "secret",
  config: { share: "disabled" },
})

describe("openCodeEnvironment", () => {
  test("keeps the configuration directory out of the engine's reach and all others in scratch", () => {
    expect(environment.XDG_CONFIG_HOME).toBe("/jobs/1/run/config")
    const { configHome: _, ...own } = directories
    expect(Object.values(own).every((path) => path.startsWith("/jobs/1/scratch/"))).toBe(true)
  })

  test("has ripgrep as the whole PATH", () => {
    expect(environment.PATH).toBe("/opt/galley/rg")
  })

  // R-PROMPT-5
  test("gives the engine no text that it would replace by a variable or a file", () => {
    const config = { prompt: "{env:OPENCODE_SERVER_PASSWORD} {file:/etc/hostname} \\{env:HOME} { env: }" }
    const text = openCodeEnvironment(directories, { ripgrepDirectory: "/rg", password: "secret", config }).OPENCODE_CONFIG_CONTENT
    expect(text).not.toMatch(/\{(?:env|file):/)
    expect(JSON.parse(text ?? "")).toEqual(config)
  })

  test("sets nothing but the names it lists", () => {
    const names = Object.keys(environment).filter((name) => !/^OPENCODE_(?:EXPERIMENTAL_)?DISABLE_/.test(name))
    expect(names.sort()).toEqual([
      "HOME",
      "LANG",
      "OPENCODE_CONFIG_CONTENT",
      "OPENCODE_DB",
      "OPENCODE_PURE",
      "OPENCODE_SERVER_PASSWORD",
      "PATH",
      "TMPDIR",
      "XDG_CACHE_HOME",
      "XDG_CONFIG_HOME",
      "XDG_DATA_HOME",
      "XDG_RUNTIME_DIR",
      "XDG_STATE_HOME",
    ])
  })
})
