import { chmod, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { makeJobDirectory, removeJobDirectory, sweepJobRoot } from "./job-directory.ts"
import { findMount, prepareJobRoot } from "./job-root.ts"
import { makeSlots } from "./slot.ts"

const slots = makeSlots(1)
const [slot] = slots as [ReturnType<typeof makeSlots>[number]]
let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "galley-job-root-"))
})
afterEach(() => rm(folder, { recursive: true }))

test("a mount is found by its exact point, the last one winning, with escaped characters", () => {
  const mountinfo = [
    "30 20 0:1 / /jobs/deeper rw,nosuid - tmpfs other rw",
    "31 20 0:2 / /jobs rw,relatime - ext4 /dev/x rw",
    "32 31 0:3 / /jobs rw,nosuid,nodev,noexec shared:5 - tmpfs galley-jobs rw,size=1k",
    "33 20 0:4 / /with\\040space rw - tmpfs y rw",
  ].join("\n")
  expect(findMount(mountinfo, "/jobs")).toEqual({ type: "tmpfs", source: "galley-jobs", options: "rw,nosuid,nodev,noexec" })
  expect(findMount(mountinfo, "/with space")).toMatchObject({ source: "y" })
  expect(findMount(mountinfo, "/job")).toBeNull()
})

test.each([".git", "AGENTS.md", ".opencode", "opencode.jsonc", ".claude", ".ignore"])("a job root below %s is refused", async (name) => {
  await writeFile(join(folder, name), "")
  const request = { path: join(folder, "deep", "jobs"), runnerUid: null, sizeBytes: 1_000_000 }
  await expect(prepareJobRoot(request)).rejects.toMatchObject({ code: "boundary_unavailable" })
})

test("a job directory keeps others out, gives the slot a place to write and hands the rest to the runner", async () => {
  const job = await makeJobDirectory(folder, "0190-abc", slot, "demo")
  const mode = async (path: string) => ((await stat(path)).mode & 0o7777).toString(8)
  expect(await Promise.all([job.path, job.scratch, job.run].map(mode))).toEqual(["750", "2770", "2750"])
})

test.each(["../up", "a/b", "", ".hidden", "-rf"])("a job id that is no plain name is refused: %j", async (jobId) => {
  await expect(makeJobDirectory(folder, jobId, slot, "demo")).rejects.toMatchObject({ code: "request_invalid" })
})

// R-BOUND-6
test("removing a job deletes a read-only export", async () => {
  const job = await makeJobDirectory(folder, "job", slot, "demo")
  await mkdir(join(job.tree, "folder"), { recursive: true })
  await writeFile(join(job.tree, "folder", "file"), "", { mode: 0o444 })
  for (const path of [join(job.tree, "folder"), job.tree]) await chmod(path, 0o555)
  await removeJobDirectory(job, slot, "demo")
  await expect(stat(job.path)).rejects.toMatchObject({ code: "ENOENT" })
})

// R-BOUND-6
test("the sweep at the start deletes every leftover and follows no link", async () => {
  const outside = join(folder, "outside")
  const root = join(folder, "jobs")
  await mkdir(root)
  await mkdir(outside)
  await writeFile(join(outside, "kept"), "")
  const job = await makeJobDirectory(root, "left", slot, "demo")
  await symlink(outside, join(job.scratch, "link"))
  await symlink(outside, join(root, "link"))
  await sweepJobRoot(root, slots, "demo")
  expect(await readdir(root)).toEqual([])
  expect(await readdir(outside)).toEqual(["kept"])
})
