import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pino } from "pino"
import { expect, onTestFinished, test } from "vitest"
import { readRunnerConfig } from "./config.ts"
import { runRunner } from "./run-runner.ts"

// F26
test("a runner that can prove nothing clears an earlier one's jobs away, says so, leases nothing and stops at once", async () => {
  const directory = mkdtempSync(join(tmpdir(), "galley-runner-"))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const jobs = join(directory, "jobs")
  mkdirSync(join(jobs, "stale", "tree"), { recursive: true })
  writeFileSync(join(jobs, "stale", "tree", "file"), "left", { mode: 0o444 })
  const config = readRunnerConfig({
    // Nobody listens there: a lease request would be logged as a failed one.
    GALLEY_SERVER_URL: "http://127.0.0.1:9",
    GALLEY_RUNNER_TOKEN: "runner-token-of-these-tests",
    GALLEY_BOUNDARY: "demo",
    GALLEY_PREFIX: directory,
    GALLEY_JOBS_DIRECTORY: jobs,
  })
  const stopping = new AbortController()
  const said: string[] = []
  const write = (line: string) => {
    const { msg, kinds } = JSON.parse(line)
    // The slot proved itself again instead of asking for a job: it has seen that it can do nothing.
    if (msg === "the engine is not usable" && said.includes("runner ready")) stopping.abort()
    said.push(msg)
    if (msg !== "runner ready") return
    expect(kinds).toEqual([])
    expect(readdirSync(jobs)).toEqual([])
  }
  const startedAt = performance.now()
  await runRunner(config, stopping.signal, pino({ level: "info" }, { write }))
  expect(performance.now() - startedAt).toBeLessThan(5_000)
  expect(new Set(said)).toEqual(new Set(["the engine is not usable", "runner ready", "runner stopped"]))
})
