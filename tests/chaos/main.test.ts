import { spawnSync } from "node:child_process"
import { expect, test } from "vitest"

// The command loads what the tests load, but without a test runner.
test("refuses a seed that is no number, before it starts anything", () => {
  const main = new URL("main.ts", import.meta.url).pathname
  const { status, stderr } = spawnSync(process.execPath, [main], { env: { PATH: process.env.PATH, SEED: "abc" }, encoding: "utf8" })
  expect(stderr).toBe("chaos: SEEDS and SEED are whole numbers from 1\n")
  expect(status).toBe(2)
})
