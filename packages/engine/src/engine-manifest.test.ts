// R-ENG-1

import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import type { EnginePrefix } from "./engine.ts"
import { openCodePath, prewarmPath, pythonPath, ripgrepDirectory, verifyEngine, verifyEngines } from "./engine-manifest.ts"

let prefix: EnginePrefix

beforeEach(async () => {
  prefix = { path: await mkdtemp(join(tmpdir(), "engine-prefix-")) }
})
afterEach(() => rm(prefix.path, { recursive: true }))

async function install(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
  await chmod(path, 0o755)
}

/** A stand-in for the interpreter that answers the question for PR-Agent's version. */
const installPrAgent = (answer: string) =>
  Promise.all([install(pythonPath(prefix), `#!/bin/sh\n${answer}\n`), install(prewarmPath(prefix), "")])

describe("verifyEngine", () => {
  test("tells a missing engine", async () => {
    await expect(verifyEngine("dynamic", prefix)).rejects.toMatchObject({ code: "engine_missing" })
    await expect(verifyEngine("diff", prefix)).rejects.toMatchObject({ code: "engine_missing" })
    await expect(verifyEngines(prefix)).rejects.toMatchObject({ code: "engine_missing" })
  })

  test("refuses an OpenCode binary with another hash than pinned", async () => {
    await install(join(ripgrepDirectory(prefix), "rg"), "")
    await install(openCodePath(prefix), "another program")
    await expect(verifyEngine("dynamic", prefix)).rejects.toMatchObject({ code: "engine_integrity" })
  })

  test("misses ripgrep too, which OpenCode would download", async () => {
    await install(openCodePath(prefix), "another program")
    await expect(verifyEngine("dynamic", prefix)).rejects.toMatchObject({ code: "engine_missing" })
  })

  test("accepts the pinned PR-Agent and refuses another one", async () => {
    await installPrAgent("echo 0.48.0")
    await expect(verifyEngine("diff", prefix)).resolves.toEqual({ name: "pr-agent", version: "0.48.0" })
    await installPrAgent("echo 0.47.0")
    await expect(verifyEngine("diff", prefix)).rejects.toMatchObject({ code: "engine_integrity" })
  })

  test("takes a Python that cannot answer for a missing engine", async () => {
    await installPrAgent("exit 127")
    await expect(verifyEngine("diff", prefix)).rejects.toMatchObject({ code: "engine_missing" })
  })
})
