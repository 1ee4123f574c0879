import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { openCodePath, prewarmPath, pythonPath, ripgrepDirectory } from "@galley/engine/engine-manifest"
import { makeSlots } from "@galley/sandbox/slot"
import { pino } from "pino"
import { expect, onTestFinished, test } from "vitest"
import { type RunnerConfig, readRunnerConfig } from "./config.ts"
import { dateProofs, PROOF_LIFETIME_MS, proveCapabilities } from "./prove-capabilities.ts"

const slots = makeSlots(1, { uid: 64_985, gatewayPort: 23_350, controlPort: 24_350 })

async function emptyPrefix(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "galley-prefix-"))
  onTestFinished(() => rm(path, { recursive: true }))
  return path
}

/** Writes an executable below a prefix. */
async function install(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
  await chmod(path, 0o755)
}

async function prove(environment: Record<string, string>, signal = AbortSignal.timeout(30_000)) {
  const config: RunnerConfig = readRunnerConfig({
    GALLEY_SERVER_URL: "http://127.0.0.1:9",
    GALLEY_RUNNER_TOKEN: "runner-token-of-these-tests",
    GALLEY_BOUNDARY: "demo",
    GALLEY_JOBS_DIRECTORY: "/nonexistent/jobs",
    ...environment,
  })
  const logged: { msg: string; kind?: string; code?: string }[] = []
  const log = pino({ level: "info" }, { write: (line: string) => void logged.push(JSON.parse(line)) })
  return { capabilities: await proveCapabilities(config, slots, signal, log), logged }
}

test("offers no kind whose engine is missing", async () => {
  const { capabilities, logged } = await prove({ GALLEY_PREFIX: await emptyPrefix() })
  expect(capabilities).toEqual([])
  expect(logged.map(({ kind, code }) => [kind, code])).toEqual([
    ["diff", "engine_missing"],
    ["dynamic", "engine_missing"],
  ])
})

test("offers no kind whose engine is another one than pinned", async () => {
  const path = await emptyPrefix()
  await install(openCodePath({ path }), "#!/bin/sh\nexit 0\n")
  await install(join(ripgrepDirectory({ path }), "rg"), "#!/bin/sh\n")
  await install(prewarmPath({ path }), "")
  await install(pythonPath({ path }), "#!/bin/sh\necho 0.47.0\n")
  const { capabilities, logged } = await prove({ GALLEY_PREFIX: path })
  expect(capabilities).toEqual([])
  expect(logged.map(({ kind, code }) => [kind, code])).toEqual([
    ["diff", "engine_integrity"],
    ["dynamic", "engine_integrity"],
  ])
})

// R-QUEUE-3
test("offers a proved kind with its evidence, though the other one is not proved", async () => {
  const path = await emptyPrefix()
  await install(prewarmPath({ path }), "")
  await install(pythonPath({ path }), "#!/bin/sh\necho 0.48.0\n")
  const { capabilities } = await prove({ GALLEY_PREFIX: path })
  expect(capabilities).toMatchObject([{ kind: "diff", engineVersion: "pr-agent 0.48.0", boundary: "demo" }])
})

// F21
test("dates a proof by its age and the clock of the moment, so that a jump of the clock ends no proof", () => {
  const now = Date.now()
  const [dated] = dateProofs([{ kind: "diff", engineVersion: "1", boundary: "demo" }], 60_000)
  const made = Date.parse(dated?.checkedAt ?? "")
  expect(Math.abs(made - (now - 60_000))).toBeLessThan(5_000)
  expect(Date.parse(dated?.expiresAt ?? "") - made).toBe(PROOF_LIFETIME_MS)
})

test("offers only the kinds it is configured for", async () => {
  const path = await emptyPrefix()
  await install(prewarmPath({ path }), "")
  await install(pythonPath({ path }), "#!/bin/sh\necho 0.48.0\n")
  expect((await prove({ GALLEY_PREFIX: path, GALLEY_RUNNER_KINDS: "dynamic" })).capabilities).toEqual([])
})

// These tests run with all rights of their user: just what a runner must have given up.
test("offers nothing when the boundary does not hold, however good its engines are", async () => {
  const path = await emptyPrefix()
  await install(prewarmPath({ path }), "")
  await install(pythonPath({ path }), "#!/bin/sh\necho 0.48.0\n")
  const { capabilities, logged } = await prove({ GALLEY_PREFIX: path, GALLEY_BOUNDARY: "enforced" })
  expect(capabilities).toEqual([])
  expect(logged.length).toBeGreaterThan(0)
  expect(logged.filter(({ msg }) => !/^the boundary (?:does not hold|could not be checked)$/.test(msg))).toEqual([])
})

test("throws the reason of its signal instead of calling an engine unusable", async () => {
  const reason = new Error("the runner stops")
  await expect(prove({ GALLEY_PREFIX: await emptyPrefix() }, AbortSignal.abort(reason))).rejects.toBe(reason)
})
