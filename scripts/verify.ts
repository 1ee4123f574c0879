/**
 * Everything that gates a change: set-up, build, checks, then every test level. Prints each step with its time; the last line is
 * `N passed, N failed` (and `, N skipped`), summed from the test reporters' machine output. A failed check counts as one failure.
 * Exit status 0 only when nothing failed.
 */
import { spawnSync } from "node:child_process"
import { mkdirSync, readFileSync, rmSync } from "node:fs"

const ARTEFACTS = "artefacts"
/** Lines of a failed test's message that the summary repeats. */
const SHOWN_LINES = 6
const LEVELS = ["unit", "fakes", "integration", "system", "browser"]

type Totals = { passed: number; failed: number; skipped: number }

/** What vitest's JSON reporter writes, as far as it is read here. */
type Report = {
  numPassedTests: number
  numFailedTests: number
  numPendingTests: number
  numTodoTests: number
  testResults: {
    name: string
    status: string
    message: string
    assertionResults: { fullName: string; status: string; failureMessages: string[] }[]
  }[]
}

function step(name: string, command: string, args: string[]): boolean {
  const startedAt = performance.now()
  console.log(`\n== ${name}`)
  const { status } = spawnSync(command, args, { stdio: "inherit" })
  console.log(`== ${name}: ${status === 0 ? "ok" : "FAILED"} in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
  return status === 0
}

/** Every failed test with the first lines of its fault, and every file that failed as a whole. */
function failuresOf(report: Report, level: string): string[] {
  return report.testResults.flatMap((file) => {
    const failed = file.assertionResults.filter((test) => test.status === "failed")
    const named = failed.map((test) => `${level}: ${test.fullName}\n${firstLines(test.failureMessages.join("\n"))}`)
    return file.status === "failed" && failed.length === 0 ? [`${level}: ${file.name}\n${firstLines(file.message)}`] : named
  })
}

function firstLines(text: string): string {
  return text
    .split("\n")
    .slice(0, SHOWN_LINES)
    .map((line) => `    ${line}`)
    .join("\n")
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
  let counts: Report
  try {
    counts = JSON.parse(readFileSync(report, "utf8"))
  } catch (error) {
    failures.push(`no report of level ${level}: ${error instanceof Error ? error.message : error}`)
    return { passed: 0, failed: 1, skipped: 0 }
  }
  failures.push(...failuresOf(counts, level))
  const failed = counts.numFailedTests
  return {
    passed: counts.numPassedTests,
    // A suite that failed to load, or a fault outside any test, must not be lost.
    failed: failed === 0 && (!ok || counts.numPassedTests === 0) ? 1 : failed,
    skipped: counts.numPendingTests + counts.numTodoTests,
  }
}

mkdirSync(ARTEFACTS, { recursive: true })
const failures: string[] = []
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
for (const [name, command, args] of checks) {
  if (step(name, command, args)) continue
  totals.failed++
  failures.push(`check: ${name}`)
}
for (const level of LEVELS) {
  const counts = testLevel(level)
  totals.passed += counts.passed
  totals.failed += counts.failed
  totals.skipped += counts.skipped
}

// A build server often keeps only the end of the output: what failed is said there once more.
if (failures.length > 0) console.log(`\n== failed\n${failures.join("\n")}`)
console.log()
console.log(`${totals.passed} passed, ${totals.failed} failed${totals.skipped > 0 ? `, ${totals.skipped} skipped` : ""}`)
process.exit(totals.failed === 0 ? 0 : 1)
