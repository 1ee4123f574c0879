import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { findOnPath } from "./find-on-path.ts"
import { opencodeStep } from "./install-opencode.ts"
import { type InstallStep, runStep } from "./install-step.ts"
import { verifyDigest } from "./npm-package.ts"
import { rewriteRunPath } from "./relocate-python.ts"
import { runCommand } from "./run-command.ts"
import { enginePrefixPath } from "./setup.ts"
import { withSetupLock } from "./setup-lock.ts"

let folder: string
const silent = () => undefined

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "galley-setup-test-"))
})
afterEach(() => rm(folder, { recursive: true }))

// R-SETUP-1
test("a step runs once, again for other inputs, and again when its target is gone", async () => {
  let installed = 0
  const target = join(folder, "program")
  const step = (input: string): InstallStep => ({
    name: "program",
    inputs: [input],
    target,
    install: async () => {
      installed += 1
      await writeFile(target, "")
    },
  })
  await runStep(folder, step("1"), silent)
  await runStep(folder, step("1"), silent)
  expect(installed).toBe(1)
  await runStep(folder, step("2"), silent)
  expect(installed).toBe(2)
  await rm(target)
  await runStep(folder, step("2"), silent)
  expect(installed).toBe(3)
})

test("a step that failed over an older installation counts as not done", async () => {
  const target = join(folder, "program")
  await runStep(folder, { name: "program", inputs: ["1"], target, install: () => writeFile(target, "old") }, silent)
  const failing = { name: "program", inputs: ["2"], target, install: () => Promise.reject(new Error("no network")) }
  await expect(runStep(folder, failing, silent)).rejects.toThrow("no network")
  await runStep(folder, { name: "program", inputs: ["1"], target, install: () => writeFile(target, "new") }, silent)
  expect(await readFile(target, "utf8")).toBe("new")
})

// R-SETUP-1
test("a download with another content is refused", async () => {
  const file = join(folder, "archive")
  await writeFile(file, "abc")
  const sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
  await expect(verifyDigest(file, "sha256", "hex", sha256)).resolves.toBeUndefined()
  await expect(verifyDigest(file, "sha256", "hex", sha256.replace("b", "c"))).rejects.toMatchObject({ code: "engine_integrity" })
})

test("a platform without a pinned OpenCode is named instead of getting another one", async () => {
  await expect(opencodeStep(folder, "plan9-mips")).rejects.toMatchObject({ code: "engine_missing" })
})

test("a program is looked up on PATH among executables only", async () => {
  await mkdir(join(folder, "a"))
  await mkdir(join(folder, "b"))
  await writeFile(join(folder, "a", "tool"), "")
  await writeFile(join(folder, "b", "tool"), "")
  await chmod(join(folder, "b", "tool"), 0o755)
  expect(findOnPath("tool", `${join(folder, "missing")}:${join(folder, "a")}:${join(folder, "b")}`)).toBe(join(folder, "b", "tool"))
  expect(findOnPath("tool", join(folder, "a"))).toBeNull()
})

test("the library path of a copied interpreter is replaced in place, without moving a byte", async () => {
  const file = join(folder, "python")
  await writeFile(file, "ELF\0libpython.so\0/home/someone/.pyenv/lib\0tail")
  await rewriteRunPath(file, "/home/someone/.pyenv/lib")
  expect(await readFile(file, "latin1")).toBe(`ELF\0libpython.so\0$ORIGIN/../lib${"\0".repeat(11)}tail`)
})

test.each(["\0/short/lib\0", "no path in here", "\0/home/someone/.pyenv/lib\0x\0/home/someone/.pyenv/lib\0"])(
  "an interpreter whose library path cannot be replaced safely is refused: %j",
  async (content) => {
    const file = join(folder, "python")
    await writeFile(file, content)
    const directory = content.includes("/short") ? "/short/lib" : "/home/someone/.pyenv/lib"
    await expect(rewriteRunPath(file, directory)).rejects.toThrow("library path")
    expect(await readFile(file, "utf8")).toBe(content)
  },
)

test("two set-ups of one prefix take turns", async () => {
  const order: string[] = []
  const work = (name: string) => () =>
    withSetupLock(folder, silent, async () => {
      order.push(`${name} in`)
      await new Promise((resolve) => setImmediate(resolve))
      order.push(`${name} out`)
    })
  await Promise.all([work("a")(), work("b")()])
  expect(order.map((entry) => entry.slice(2))).toEqual(["in", "out", "in", "out"])
})

test("a set-up that failed gives its lock back", async () => {
  await expect(withSetupLock(folder, silent, () => Promise.reject(new Error("no network")))).rejects.toThrow("no network")
  expect(await withSetupLock(folder, silent, async () => "done")).toBe("done")
})

test("a failing command is reported with its name and what it said", async () => {
  await expect(runCommand("/bin/sh", ["-c", "echo the reason >&2; exit 3"])).rejects.toThrow("/bin/sh ended with 3: the reason")
  await expect(runCommand("/nowhere/tool", [])).rejects.toThrow("/nowhere/tool could not be started")
})

test("the prefix can be chosen by the operator", () => {
  expect(enginePrefixPath({ GALLEY_PREFIX: "/srv/engines" })).toBe("/srv/engines")
  expect(enginePrefixPath({})).toMatch(/^\/opt\/galley$|\.galley\/prefix$/)
})
