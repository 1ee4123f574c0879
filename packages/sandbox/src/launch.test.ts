import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { expect, onTestFinished, test } from "vitest"
import { type LaunchRequest, launch } from "./launch.ts"
import { makeSlots } from "./slot.ts"

const [slot] = makeSlots(1) as [ReturnType<typeof makeSlots>[number]]

test("a program gets its arguments and directory as they were given", async () => {
  const { stdout } = await run({ argv: ["/bin/bash", "-c", 'echo "$1|$2"; pwd', "x", "a b", "$HOME"], cwd: "/usr" })
  expect(stdout).toBe("a b|$HOME\n/usr\n")
})

test("the environment of a program is exactly what it was given", async () => {
  const { stdout } = await run({ argv: ["/usr/bin/env"], env: { PATH: "/only-rg", A: "1" } })
  expect(stdout.trim().split("\n").sort()).toEqual(["A=1", "PATH=/only-rg"])
})

test("start-up files and functions named in an engine's environment are not read by the wrapper", async () => {
  const env = { BASH_ENV: "/dev/stdin", "BASH_FUNC_set%%": "() { echo taken; }" }
  const { stdout } = await run({ argv: ["/bin/echo", "fine"], env })
  expect(stdout).toBe("fine\n")
})

test("a start-up file in the home directory of an engine is not run with the runner's rights", async () => {
  const home = mkdtempSync(join(tmpdir(), "galley-launch-"))
  onTestFinished(() => rmSync(home, { recursive: true }))
  writeFileSync(join(home, ".bashrc"), "echo taken")
  const child = start({ argv: ["/bin/cat"], stdin: "pipe", env: { HOME: home, PATH: "/usr/bin:/bin" } })
  child.stdin?.end("fine\n")
  expect(await text(child.stdout)).toBe("fine\n")
})

// R-BOUND-1
test("an engine process leads its own group, cannot gain privileges and dumps no core", async () => {
  const child = start({ argv: ["/bin/bash", "-c", "grep NoNewPrivs /proc/self/status; ulimit -c; ulimit -n; umask; ps -o pgid= -p $$"] })
  const lines = (await text(child.stdout)).trim().split(/\s+/)
  expect(lines).toEqual(["NoNewPrivs:", "1", "0", "1024", "0027", String(child.pid)])
})

test("a program that is not there ends with 127", async () => {
  expect(await run({ argv: ["/nowhere/engine"] })).toMatchObject({ code: 127 })
})

test("standard input reaches the program when it is asked for", async () => {
  const child = start({ argv: ["/bin/cat"], stdin: "pipe" })
  child.stdin?.end("one line\n")
  expect(await text(child.stdout)).toBe("one line\n")
})

function start(request: Partial<LaunchRequest> & Pick<LaunchRequest, "argv">) {
  return launch({ slot, boundary: "demo", env: { PATH: "/usr/bin:/bin" }, cwd: "/", stdin: "ignore", ...request })
}

async function run(request: Partial<LaunchRequest> & Pick<LaunchRequest, "argv">) {
  const child = start(request)
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")])
  return { stdout, stderr, code: code as number | null }
}
