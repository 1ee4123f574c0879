import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { expect, onTestFinished, test } from "vitest"
import { makeSampleRepository } from "../../scripts/demo/sample-repository.ts"

const repository = new URL("../..", import.meta.url).pathname

/** Starts the demo as `make demo` does after its set-up; it is ended with the test at the latest. */
function startDemo(environment: Record<string, string>) {
  const child = spawn(process.execPath, [join(repository, "scripts/demo/demo.ts")], {
    cwd: repository,
    env: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "/", ...environment },
    stdio: ["ignore", "pipe", "inherit"],
  })
  const lines: string[] = []
  const output = createInterface({ input: child.stdout }).on("line", (line) => lines.push(line))
  onTestFinished(async () => {
    if (child.exitCode !== null) return
    child.kill("SIGTERM")
    await once(child, "exit")
  })
  const says = (sentence: string) =>
    new Promise<void>((resolve) => {
      output.on("line", (line) => {
        if (line.includes(sentence)) resolve()
      })
    })
  return { child, lines, says, ended: once(child, "exit").then(([code]) => code as number | null) }
}

/** Pids of all descendants of a process. */
function descendants(root: number): number[] {
  const parents = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
        return [{ pid: Number(pid), parent: Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) }]
      } catch {
        // The process ended while the list was read.
        return []
      }
    })
  const below = (pid: number): number[] =>
    parents.filter(({ parent }) => parent === pid).flatMap((child) => [child.pid, ...below(child.pid)])
  return below(root)
}

const isAlive = (pid: number) => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"))
  } catch {
    return false
  }
}

// R-DEMO-1
test("ONCE=1 reviews a change of the user's with both kinds into one comment and ends with success", async () => {
  const directory = mkdtempSync(join(tmpdir(), "galley-demo-test-"))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const change = makeSampleRepository(directory)
  const demo = startDemo({ ONCE: "1", REPO: directory, BASE: "main", HEAD: "discounts" })
  expect(await demo.ended).toBe(0)
  const runs = demo.lines.filter((line) => line.startsWith('{"kind"')).map((line) => JSON.parse(line))
  expect(runs).toMatchObject([
    { kind: "diff", outcome: "published", reviewedSha: change.headSha, modelCalls: 1 },
    { kind: "dynamic", outcome: "published", reviewedSha: change.headSha },
  ])
  expect(runs[1].modelCalls).toBeGreaterThan(1)
  expect(runs[0].commentId).toBe(runs[1].commentId)
  for (const run of runs) expect(run.inputTokens * run.outputTokens * run.seconds).toBeGreaterThan(0)
  const printed = demo.lines.join("\n")
  expect(printed).toContain("## Galley: Diff Review")
  expect(printed).toContain("## Galley: Dynamic Review")
})

test("a base that is no commit is refused with a clear sentence", async () => {
  const directory = mkdtempSync(join(tmpdir(), "galley-demo-test-"))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  makeSampleRepository(directory)
  const demo = startDemo({ ONCE: "1", REPO: directory, BASE: "--upload-pack=x", HEAD: "discounts" })
  expect(await demo.ended).toBe(1)
})

// R-DEMO-1
test("Ctrl-C stops every process the demo started", async () => {
  const demo = startDemo({})
  await demo.says("a pull request is opened")
  const started = descendants(demo.child.pid ?? 0)
  expect(started.length).toBeGreaterThan(3)
  demo.child.kill("SIGINT")
  expect(await demo.ended).toBe(130)
  expect(started.filter(isAlive)).toEqual([])
})
