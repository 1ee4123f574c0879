import { expect, test } from "vitest"
import { environmentOfRunner, readRunnerConfig } from "./config.ts"

const required = { GALLEY_SERVER_URL: "https://galley.example/", GALLEY_RUNNER_TOKEN: "runner-token-of-these-tests" }

test("needs only the server's address and a token; the boundary is enforced unless asked otherwise", () => {
  const config = readRunnerConfig(required)
  expect(config).toMatchObject({ serverUrl: "https://galley.example", boundary: "enforced", slots: 1, kinds: ["diff", "dynamic"] })
})

// R-CONF-1
test("names every wrong variable and shows no value", () => {
  const wrong = {
    ...required,
    GALLEY_RUNNER_TOKEN: "short-secret",
    GALLEY_BOUNDARY: "none",
    GALLEY_RUNNER_KINDS: "magic",
    GALLEY_RUNNER_SLOTS: "0",
  }
  const read = () => readRunnerConfig(wrong)
  expect(read).toThrow(expect.objectContaining({ code: "config_invalid" }))
  for (const name of ["GALLEY_RUNNER_TOKEN", "GALLEY_BOUNDARY", "GALLEY_RUNNER_KINDS", "GALLEY_RUNNER_SLOTS"]) expect(read).toThrow(name)
  expect(read).not.toThrow("short-secret")
})

test("the dropped runner keeps its own configuration and nothing else of the environment", () => {
  const environment = { ...required, PATH: "/usr/bin", DATABASE_URL: "postgres://x", GITHUB_PRIVATE_KEY: "key", HOME: "/nobody" }
  expect(environmentOfRunner(environment)).toEqual({ ...required, PATH: "/usr/bin" })
})

// R-FLEET-6
test("an ephemeral runner has one slot, and passes the mode on when it drops root", () => {
  expect(readRunnerConfig(required).ephemeral).toBe(false)
  for (const yes of ["true", "1"]) expect(readRunnerConfig({ ...required, GALLEY_RUNNER_EPHEMERAL: yes }).ephemeral).toBe(true)
  const ephemeral = { ...required, GALLEY_RUNNER_EPHEMERAL: "true" }
  expect(environmentOfRunner(ephemeral)).toEqual(ephemeral)
  const refused = expect.objectContaining({ code: "config_invalid", message: expect.stringContaining("GALLEY_RUNNER_SLOTS") })
  expect(() => readRunnerConfig({ ...ephemeral, GALLEY_RUNNER_SLOTS: "2" })).toThrow(refused)
  expect(() => readRunnerConfig({ ...required, GALLEY_RUNNER_EPHEMERAL: "perhaps" })).toThrow("GALLEY_RUNNER_EPHEMERAL")
})
