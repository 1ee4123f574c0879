/**
 * Everything that gates a change: set-up, build, checks, then every test level. Prints each step with its time; the last line is
 * `N passed, N failed` (and `, N skipped`), summed from the test reporters' machine output. A failed check counts as one failure.
 * Exit status 0 only when nothing failed.
 */
import { spawnSync } from "node:child_process"
import { mkdirSync, readFileSync, rmSync } from "node:fs"

const ARTEFACTS = "artefacts"
const LEVELS = ["unit", "fakes", "integration", "system", "browser"]

type Totals = { passed: number; failed: number; skipped: number }

function step(name: string, command: string, args: string[]): boolean {
  const startedAt = performance.now()
  console.log(`\n== ${name}`)
  const { status } = spawnSync(command, args, { stdio: "inherit" })
  console.log(`== ${name}: ${status === 0 ? "ok" : "FAILED"} in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
  return status === 0
}

/** The counts of one level. A run without a report (a crash, or no test found) is a failure, never an empty success. */
function testLevel(level: string): Totals {
  const report = `${ARTEFACTS}/tests-${level}.json`
  rmSync(report, { force: true })
  const ok = step(`tests: ${level}`, "vitest", [
    "run",
    "--project",
    level,
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${report}`,
  ])
  let counts: { numPassedTests: number; numFailedTests: number; numPendingTests: number; numTodoTests: number; numFailedTestSuites: number }
  try {
    counts = JSON.parse(readFileSync(report, "utf8"))
  } catch (error) {
    console.error(`no report of level ${level}: ${error instanceof Error ? error.message : error}`)
    return { passed: 0, failed: 1, skipped: 0 }
  }
  const failed = counts.numFailedTests
  return {
    passed: counts.numPassedTests,
    // A suite that failed to load, or a fault outside any test, must not be lost.
    failed: failed === 0 && (!ok || counts.numPassedTests === 0) ? 1 : failed,
    skipped: counts.numPendingTests + counts.numTodoTests,
  }
}

mkdirSync(ARTEFACTS, { recursive: true })
const totals: Totals = { passed: 0, failed: 0, skipped: 0 }

const checks: [string, string, string[]][] = [
  ["lockfile", "pnpm", ["install", "--frozen-lockfile", "--lockfile-only"]],
  ["set-up", "node", ["scripts/setup/setup.ts", "--browser"]],
  ["build", "node", ["scripts/build.ts"]],
  ["types", "tsc", ["--noEmit"]],
  ["style", "biome", ["check", "--error-on-warnings", "."]],
  ["import rules", "node", ["scripts/check-imports.ts"]],
  ["runner bundle", "node", ["scripts/check-runner-bundle.ts"]],
]
for (const [name, command, args] of checks) if (!step(name, command, args)) totals.failed++
for (const level of LEVELS) {
  const counts = testLevel(level)
  totals.passed += counts.passed
  totals.failed += counts.failed
  totals.skipped += counts.skipped
}

console.log()
console.log(`${totals.passed} passed, ${totals.failed} failed${totals.skipped > 0 ? `, ${totals.skipped} skipped` : ""}`)
process.exit(totals.failed === 0 ? 0 : 1)
