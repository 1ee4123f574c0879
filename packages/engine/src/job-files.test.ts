import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { makeSlots } from "@galley/sandbox/slot"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { makeSlotDirectory, readEngineFile, writeJobFile } from "./job-files.ts"

let folder: string
const owners = makeSlots(1).map((slot) => ({ slot, boundary: "demo" as const }))

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "job-files-"))
})
afterEach(() => rm(folder, { recursive: true }))

describe("writeJobFile and makeSlotDirectory", () => {
  test("give exactly the asked mode, whatever the umask", async () => {
    for (const owner of owners) {
      await writeJobFile(join(folder, "settings"), "text", 0o660, owner)
      await makeSlotDirectory(join(folder, "config"), 0o2770, owner)
    }
    expect((await stat(join(folder, "settings"))).mode & 0o7777).toBe(0o660)
    expect((await stat(join(folder, "config"))).mode & 0o7777).toBe(0o2770)
  })

  test("write no file that is already there", async () => {
    await writeFile(join(folder, "settings"), "planted")
    for (const owner of owners) await expect(writeJobFile(join(folder, "settings"), "text", 0o640, owner)).rejects.toThrow()
    expect(await readFile(join(folder, "settings"), "utf8")).toBe("planted")
  })
})

describe("readEngineFile", () => {
  const path = () => join(folder, "record")

  test("reads a file up to its bound", async () => {
    await writeFile(path(), "12345")
    await expect(readEngineFile(path(), 5)).resolves.toBe("12345")
    await expect(readEngineFile(path(), 4)).rejects.toMatchObject({ code: "engine_output_invalid" })
  })

  test("follows no link, which could lead to a file of the runner", async () => {
    await writeFile(join(folder, "secret"), "secret")
    await symlink(join(folder, "secret"), path())
    await expect(readEngineFile(path(), 100)).rejects.toMatchObject({ code: "engine_output_invalid" })
  })

  test("refuses what is no file", async () => {
    await expect(readEngineFile(path(), 100)).rejects.toMatchObject({ code: "engine_output_invalid" })
    await mkdir(path())
    await expect(readEngineFile(path(), 100)).rejects.toMatchObject({ code: "engine_output_invalid" })
  })
})
