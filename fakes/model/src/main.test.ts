import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"

const run = (args: readonly string[]) => {
  const child = spawn(process.execPath, [new URL("main.ts", import.meta.url).pathname, ...args], { stdio: ["ignore", "pipe", "pipe"] })
  onTestFinished(() => void child.kill("SIGKILL"))
  const output = { text: "" }
  child.stdout.on("data", (bytes) => {
    output.text += bytes
  })
  return { child, output }
}

test("prints its address, follows its script and mode, and ends with Ctrl-C", async () => {
  const directory = await mkdtemp(join(tmpdir(), "fake-model-"))
  onTestFinished(() => rm(directory, { recursive: true }))
  const script = join(directory, "script.json")
  await writeFile(script, JSON.stringify([{ say: "from the file", mode: { name: "no-usage" } }]))
  const { child, output } = run(["--port", "0", "--api-key", "k", "--script", script, "--mode", "status-429:7"])
  const ended = once(child, "exit")
  await once(child.stdout, "data")
  const url = output.text.match(/^scripted model: (http:\/\/127\.0\.0\.1:\d+\/v1)$/m)?.[1]
  const ask = () =>
    fetch(`${url}/chat/completions`, {
      method: "POST",
      headers: { authorization: "Bearer k" },
      body: JSON.stringify({ model: "m", messages: [{ role: "user", content: "" }] }),
    })
  expect(await (await ask()).text()).toContain("from the file")
  expect((await ask()).headers.get("retry-after")).toBe("7")
  child.kill("SIGINT")
  expect(await ended).toEqual([0, null])
}, 30_000)

test("explains every mode in its help", async () => {
  const { child, output } = run(["--help"])
  expect(await once(child, "close")).toEqual([0, null])
  expect(output.text).toContain("--script <file>")
  expect(output.text).toMatch(/ {2}split-utf8 +pauses in the middle/)
}, 30_000)
