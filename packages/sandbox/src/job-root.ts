import { existsSync } from "node:fs"
import { chmod, chown, mkdir, readFile, stat } from "node:fs/promises"
import { dirname, join } from "node:path"
import { GalleyError } from "@galley/contract/errors"
import { requireProgram, runProgram } from "./run-program.ts"

/** Source name of our own mounts, so that nothing else is ever unmounted. */
const MOUNT_SOURCE = "galley-jobs"

/** Engines look for these in every directory from the job up to `/`. */
const discoveryInputs = [
  ".git",
  ".opencode",
  "opencode.json",
  "opencode.jsonc",
  "AGENTS.md",
  "CLAUDE.md",
  "CONTEXT.md",
  ".claude",
  ".agents",
  ".ignore",
  ".rgignore",
]

export type JobRootRequest = Readonly<{
  /** Absolute path. */
  path: string
  /** User and group that will own it; null = the caller. */
  runnerUid: number | null
  /** Bound of all jobs together, in bytes of memory. */
  sizeBytes: number
}>

export type JobRoot = Readonly<{
  path: string
  /** `own`: our mount, removed by `releaseJobRoot`. `given`: a tmpfs that was there. `none`: an ordinary directory. */
  tmpfs: "own" | "given" | "none"
  /** What is weaker than it could be, for the log; null when nothing is. */
  warning: string | null
}>

/**
 * Prepares the directory of all jobs (mode 0711): a tmpfs of its own as root, else a tmpfs that is already there, else a plain
 * directory with a warning. On a tmpfs the export is fast, its size is a hard quota and nothing outlives the machine.
 *
 * Throws `boundary_unavailable` when a directory above holds a file that engines take as configuration or instructions.
 */
export async function prepareJobRoot(request: JobRootRequest): Promise<JobRoot> {
  const { path, runnerUid, sizeBytes } = request
  refuseDiscoveryInputs(path)
  await mkdir(path, { recursive: true, mode: 0o755 })
  const mounted = await mountAt(path)
  if (mounted?.source === MOUNT_SOURCE) await requireProgram("umount", [path])
  else if (mounted?.type === "tmpfs") return await useGivenTmpfs(path, runnerUid, mounted.options)
  const owner = runnerUid ?? process.getuid?.() ?? 0
  const options = `size=${sizeBytes},mode=0711,uid=${owner},gid=${owner},noexec,nosuid,nodev`
  const mount = await runProgram("mount", ["-t", "tmpfs", "-o", options, MOUNT_SOURCE, path])
  if (mount.code === 0) return { path, tmpfs: "own", warning: null }
  await takeOwnership(path, runnerUid)
  return { path, tmpfs: "none", warning: `${path} is an ordinary directory: slower, and without a disk quota for all jobs` }
}

/** Removes our own tmpfs; leaves anything else alone. */
export async function releaseJobRoot(root: JobRoot): Promise<void> {
  if (root.tmpfs === "own" && (await mountAt(root.path))?.source === MOUNT_SOURCE) await requireProgram("umount", [root.path])
}

/** A container's tmpfs comes with its owner and mode; an entry point without CAP_CHOWN can only check them. */
async function useGivenTmpfs(path: string, runnerUid: number | null, options: string): Promise<JobRoot> {
  await takeOwnership(path, runnerUid)
  const weak = ["noexec", "nosuid", "nodev"].filter((option) => !options.split(",").includes(option))
  return { path, tmpfs: "given", warning: weak.length > 0 ? `${path} is mounted without ${weak.join(", ")}` : null }
}

async function takeOwnership(path: string, runnerUid: number | null): Promise<void> {
  const { uid, mode } = await stat(path)
  const wanted = runnerUid ?? process.getuid?.() ?? 0
  if (uid === wanted && (mode & 0o7777) === 0o711) return
  try {
    if (uid !== wanted) await chown(path, wanted, wanted)
    await chmod(path, 0o711)
  } catch (cause) {
    throw new GalleyError("boundary_unavailable", `${path} must belong to user ${wanted} with mode 0711`, { cause })
  }
}

function refuseDiscoveryInputs(path: string): void {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const found = discoveryInputs.find((name) => existsSync(join(folder, name)))
    if (found) throw new GalleyError("boundary_unavailable", `${join(folder, found)} would reach the engines; choose a job root elsewhere`)
    if (folder === dirname(folder)) break
  }
  if (existsSync("/etc/opencode")) throw new GalleyError("boundary_unavailable", "/etc/opencode would configure the engines; remove it")
}

/** The mount whose mount point is exactly `path`, the topmost one, or null. */
async function mountAt(path: string): Promise<Readonly<{ type: string; source: string; options: string }> | null> {
  return findMount(await readFile("/proc/self/mountinfo", "utf8"), path)
}

/** Pure part: looks a mount point up in the text of `/proc/self/mountinfo`. */
export function findMount(mountinfo: string, path: string): Readonly<{ type: string; source: string; options: string }> | null {
  const encoded = path.replace(/[\\ \t\n]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`)
  const line = mountinfo.split("\n").findLast((candidate) => candidate.split(" ")[4] === encoded)
  if (!line) return null
  const [before = "", after = ""] = line.split(" - ")
  const [type = "", source = ""] = after.split(" ")
  return { type, source, options: before.split(" ")[5] ?? "" }
}
