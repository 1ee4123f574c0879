import { expect, test } from "vitest"
import { checkRunnerVersion, MIN_RUNNER_VERSION } from "./check-runner-version.ts"

test.each([MIN_RUNNER_VERSION, "0.1.1", "0.2.0", "0.10.0", "1.0.0", "1.0.0-next.1"])("takes a runner of version %s", (version) => {
  expect(() => checkRunnerVersion(version)).not.toThrow()
})

// B52
test.each(["0.0.9", "0.0.99", "0.1", "newest", ""])("refuses a runner that calls its version '%s'", (version) => {
  expect(() => checkRunnerVersion(version)).toThrow(expect.objectContaining({ code: "runner_too_old" }))
})
