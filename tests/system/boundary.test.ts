import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { chmod, chown, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { checkLaunch } from "@galley/sandbox/check-launch"
import { DEFAULT_RUNNER_UID } from "@galley/sandbox/drop"
import { egressRulesLoaded, loadEgressRules, removeEgressRules } from "@galley/sandbox/egress-rules"
import { makeJobDirectory, removeJobDirectory, sweepJobRoot } from "@galley/sandbox/job-directory"
import { type JobRoot, prepareJobRoot, releaseJobRoot } from "@galley/sandbox/job-root"
import { launch } from "@galley/sandbox/launch"
import { watchMemory } from "@galley/sandbox/memory-watch"
import { processesOfUser, readProcesses } from "@galley/sandbox/processes"
import { type BoundaryProof, checkBoundary } from "@galley/sandbox/self-check"
import { makeSlots, type Slot } from "@galley/sandbox/slot"
import { removeSlotFiles } from "@galley/sandbox/slot-files"
import { superviseRunner } from "@galley/sandbox/supervise-runner"
import { sweepSlot } from "@galley/sandbox/sweep"
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest"
import { bundle } from "../../scripts/bundle.ts"
import { enginePrefixPath } from "../../scripts/setup/setup.ts"

/** Users and ports of these tests alone, away from a runner on the same machine. */
// Ports below the range that the kernel takes for outgoing connections, where one could be busy at any time.
const slots = makeSlots(2, { uid: 64_950, gatewayPort: 25_000, controlPort: 26_000 })
const supervisedBase = { uid: 64_953, gatewayPort: 25_010, controlPort: 26_010 }
const ruleless = makeSlots(1, { uid: 64_956, gatewayPort: 25_020, controlPort: 26_020 })
const [slot, otherSlot] = slots as [Slot, Slot]
const prefix = enginePrefixPath()
const python = join(prefix, "pr-agent", "bin", "python")
const node = join(prefix, "node", "node")

let folder: string
let jobsRoot: string

beforeAll(async () => {
  requireBoundaryMachine()
  await loadEgressRules(slots)
})
afterAll(() => removeEgressRules(slots))

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "galley-boundary-"))
  await chmod(folder, 0o711)
  jobsRoot = join(folder, "jobs")
  await mkdir(jobsRoot)
  await chmod(jobsRoot, 0o711)
})
afterEach(async () => {
  for (const each of slots) await sweepSlot(each, "enforced")
  await sweepJobRoot(jobsRoot, slots, "enforced")
  await rm(folder, { recursive: true })
})

// R-BOUND-1, R-BOUND-2, R-BOUND-3
test("a dropped runner proves the boundary and clears a hostile job, and its end leaves no process, file, mount or rule", async () => {
  const supervised = makeSlots(2, supervisedBase)
  const output = join(folder, "output")
  await mkdir(output)
  await chown(output, DEFAULT_RUNNER_UID, DEFAULT_RUNNER_UID)
  const program = join(folder, "runner.mjs")
  await bundle(fileURLToPath(new URL("boundary-runner.ts", import.meta.url)), program)
  await chmod(program, 0o444)
  const root = join(folder, "own-jobs")
  const ports = Object.values(supervisedBase).map(String)
  // descriptor 77 has no close-on-exec: it passes through spawn, setpriv and node, and must not reach an engine
  const argv = ["/bin/bash", "-c", 'exec 77</etc/hostname; exec "$0" "$@"', node, program, output, root, python, ...ports] as const
  const stop = new AbortController()
  const roots: JobRoot[] = []
  const ended = superviseRunner({
    slots: supervised,
    argv: [...argv],
    env: { PATH: "/usr/bin:/bin" },
    jobRoot: { path: root, sizeBytes: 16 * 1024 ** 2 },
    signal: stop.signal,
    graceMs: 5_000,
    onJobRoot: (each) => roots.push(each),
  })
  try {
    await Promise.race([expect.poll(() => existsSync(join(output, "report.json")), { timeout: 60_000 }).toBe(true), ended])
    const { proof, jobsLeft } = JSON.parse(await readFile(join(output, "report.json"), "utf8")) as {
      proof: BoundaryProof
      jobsLeft: string[]
    }
    expect(proof.checks.filter(({ passed }) => !passed)).toEqual([])
    expect(new Set(proof.checks.map(({ id }) => id))).toEqual(new Set(["P1", "P2", "P3", "P4", "N1", "N2", "N3", "N4", "N5", "N6"]))
    expect(proof.passed).toBe(true)
    expect(jobsLeft).toEqual([])
    expect(roots).toMatchObject([{ tmpfs: "own", warning: null }])
    expect(await egressRulesLoaded(supervised)).toBe(true)
    await expect.poll(() => processesOf(supervised).length).toBeGreaterThanOrEqual(4)
  } finally {
    stop.abort()
  }
  expect(await ended).toBe(0)
  expect(processesOf(supervised)).toEqual([])
  expect(await egressRulesLoaded(supervised)).toBe(false)
  expect(existsSync(`/tmp/galley-left-${supervisedBase.uid}`)).toBe(false)
  expect(await readFile("/proc/self/mountinfo", "utf8")).not.toContain(root)
})

// R-BOUND-4
test("without egress rules the self-check fails on every address and says so", async () => {
  const proof = await prove(ruleless)
  expect(proof.passed).toBe(false)
  const failed = new Set(proof.checks.filter(({ passed, slot: index }) => !passed && index !== null).map(({ id }) => id))
  expect(failed).toEqual(new Set(["N1", "N3"]))
})

// R-BOUND-4
test("a runner that kept root fails its own check and nothing else", async () => {
  const proof = await prove(slots)
  expect(proof.checks.filter(({ passed }) => !passed)).toMatchObject([{ id: "N6" }])
  expect(proof.passed).toBe(false)
})

// R-BOUND-4
test("a self-check that cannot take a slot's port is an error, not a pass", async () => {
  await using _taken = await listenOn(slot.gatewayPort)
  await expect(prove(slots)).rejects.toMatchObject({ code: "boundary_unavailable" })
})

// F28, R-BOUND-6
test("every escape from the process group is ended by the sweep of the slot's user, and no other user's process", async () => {
  const bystander = await startAs(otherSlot, "sleep 300", 2)
  const escapes = `sleep 300 & setsid sleep 300 & (setsid bash -c 'trap "" TERM HUP INT; sleep 300 & wait' &); nohup setsid sh -c 'sleep 300; true' & wait`
  const engine = await startAs(slot, escapes, 6)
  await sweepSlot(slot, "enforced", [engine])
  expect(processesOf([slot])).toEqual([])
  expect(processesOf([otherSlot]).map(({ pid }) => pid)).toContain(bystander)
})

// R-BOUND-7
test("a fork storm is bounded and ended", async () => {
  await startAs(slot, "storm() { while :; do storm & done; }; storm", 100)
  await sweepSlot(slot, "enforced")
  expect(processesOf([slot])).toEqual([])
})

// R-BOUND-7
test("an engine over its memory is noticed while it runs", async () => {
  const hog = launch({
    slot,
    boundary: "enforced",
    argv: [python, "-I", "-B", "-S", "-c", "import time; x = bytearray(300 << 20); time.sleep(300)"],
    env: {},
    cwd: "/",
    stdin: "ignore",
  })
  const watch = watchMemory({ slot, boundary: "enforced", leader: hog.pid ?? 0, maxBytes: 200 << 20, signal: AbortSignal.timeout(30_000) })
  await expect(watch).rejects.toMatchObject({ code: "engine_memory_exceeded" })
})

// R-BOUND-6
test("files that a slot left in world-writable directories are deleted, locked ones too, and no one else's", async () => {
  const mark = `galley-test-${process.pid}`
  await writeFile(`/tmp/${mark}-kept`, "")
  const leave = `for d in /tmp /var/tmp /dev/shm; do mkdir -p $d/${mark}/locked && echo x >$d/${mark}/locked/file && chmod 0 $d/${mark}/locked; done`
  await ended(slot, leave)
  expect(existsSync(`/var/tmp/${mark}`)).toBe(true)
  await removeSlotFiles(slot)
  expect(["/tmp", "/var/tmp", "/dev/shm"].filter((path) => existsSync(`${path}/${mark}`))).toEqual([])
  expect(existsSync(`/tmp/${mark}-kept`)).toBe(true)
  await rm(`/tmp/${mark}-kept`)
})

// R-BOUND-6
test("a job directory is deleted with what the slot made unreadable, and links in it are not followed", async () => {
  const outside = join(folder, "outside")
  await writeFile(outside, "kept")
  const job = await makeJobDirectory(jobsRoot, "job", slot, "enforced")
  await ended(slot, `cd ${job.scratch} && mkdir -p a/b && echo x >a/b/c && ln -s ${outside} link && ln -s / root && chmod 0 a/b a`)
  await removeJobDirectory(job, slot, "enforced")
  expect(existsSync(job.path)).toBe(false)
  expect(await readFile(outside, "utf8")).toBe("kept")
})

test("what an engine writes to scratch can be read by the slot's group only", async () => {
  const job = await makeJobDirectory(jobsRoot, "job", slot, "enforced")
  await ended(slot, `echo result >${job.scratch}/out`)
  const { uid, gid, mode } = await stat(join(job.scratch, "out"))
  expect({ uid, gid, mode: (mode & 0o777).toString(8) }).toEqual({ uid: slot.uid, gid: slot.gid, mode: "640" })
  expect(await ended(otherSlot, `cat ${job.scratch}/out`)).not.toBe(0)
})

// R-BOUND-5
test("a launch is refused unless the export is read-only in every mode bit", async () => {
  await using _gateway = await listenOn(slot.gatewayPort)
  const tree = await exportedTree()
  await expect(checkLaunch({ slot, boundary: "enforced", treePath: tree, python, signal })).resolves.toBeUndefined()
  await chmod(join(tree, "folder"), 0o755)
  await expect(checkLaunch({ slot, boundary: "enforced", treePath: tree, python, signal })).rejects.toMatchObject({
    code: "boundary_unavailable",
  })
  await chmod(join(tree, "folder"), 0o555)
  await chown(join(tree, "folder", "file"), slot.uid, slot.gid)
  await chmod(join(tree, "folder", "file"), 0o400)
  await expect(checkLaunch({ slot, boundary: "enforced", treePath: tree, python, signal })).rejects.toMatchObject({
    code: "boundary_unavailable",
  })
})

// R-BOUND-5
test("a launch is refused when the job's gateway cannot be reached, and when another address can", async () => {
  const tree = await exportedTree()
  await expect(checkLaunch({ slot, boundary: "enforced", treePath: tree, python, signal })).rejects.toMatchObject({
    code: "boundary_unavailable",
  })
  const [open] = ruleless as [Slot]
  await using _gateway = await listenOn(open.gatewayPort)
  await expect(checkLaunch({ slot: open, boundary: "enforced", treePath: tree, python, signal })).rejects.toMatchObject({
    code: "boundary_unavailable",
  })
})

test("the job root is a tmpfs of its own with a quota, made anew over a stale one", async () => {
  const request = { path: join(folder, "mounted"), runnerUid: DEFAULT_RUNNER_UID, sizeBytes: 1024 ** 2 }
  await prepareJobRoot(request)
  await writeFile(join(request.path, "stale"), "")
  const root = await prepareJobRoot(request)
  try {
    expect(root).toEqual({ path: request.path, tmpfs: "own", warning: null })
    expect(existsSync(join(request.path, "stale"))).toBe(false)
    const { uid, mode } = await stat(request.path)
    expect({ uid, mode: (mode & 0o7777).toString(8) }).toEqual({ uid: DEFAULT_RUNNER_UID, mode: "711" })
    await expect(writeFile(join(request.path, "big"), Buffer.alloc(2 * 1024 ** 2))).rejects.toMatchObject({ code: "ENOSPC" })
  } finally {
    await releaseJobRoot(root)
  }
  expect(await readFile("/proc/self/mountinfo", "utf8")).not.toContain(request.path)
})

test("loading the rules again replaces them, and removing them twice is no error", async () => {
  const own = makeSlots(1, { uid: 64_958, gatewayPort: 25_030, controlPort: 26_030 })
  await loadEgressRules(own)
  await loadEgressRules(own)
  expect(await egressRulesLoaded(own)).toBe(true)
  expect(await egressRulesLoaded(slots)).toBe(true)
  await removeEgressRules(own)
  await removeEgressRules(own)
  expect(await egressRulesLoaded(own)).toBe(false)
  expect(await egressRulesLoaded(slots)).toBe(true)
})

const signal = AbortSignal.timeout(170_000)

function requireBoundaryMachine(): void {
  const missing = [
    ...(process.getuid?.() === 0 ? [] : ["root"]),
    ...(spawnSync("nft", ["list", "tables"], { env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" } }).status === 0
      ? []
      : ["nft with CAP_NET_ADMIN"]),
    ...[python, node].filter((path) => !existsSync(path)),
  ]
  if (missing.length > 0) throw new Error(`the boundary tests need ${missing.join(", ")}; run as root after make setup`)
}

function prove(tested: readonly Slot[]): Promise<BoundaryProof> {
  return checkBoundary({ slots: tested, boundary: "enforced", jobsRoot, python, signal })
}

function processesOf(tested: readonly Slot[]) {
  const processes = readProcesses()
  return tested.flatMap(({ uid }) => processesOfUser(processes, uid))
}

function launchScript(as: Slot, script: string) {
  return launch({
    slot: as,
    boundary: "enforced",
    argv: ["/bin/bash", "-c", `${script}\ntrue`],
    env: { PATH: "/usr/bin:/bin" },
    cwd: "/",
    stdin: "ignore",
  })
}

/** Starts a script and waits until its user has at least `count` processes. */
async function startAs(as: Slot, script: string, count: number): Promise<number> {
  const child = launchScript(as, script)
  child.stdout.resume()
  child.stderr.resume()
  await expect.poll(() => processesOf([as]).length, { timeout: 20_000 }).toBeGreaterThanOrEqual(count)
  return child.pid ?? 0
}

/** Runs a script to its end and returns its exit code. */
async function ended(as: Slot, script: string): Promise<number | null> {
  const child = launch({
    slot: as,
    boundary: "enforced",
    argv: ["/bin/bash", "-c", script],
    env: { PATH: "/usr/bin:/bin" },
    cwd: "/",
    stdin: "ignore",
  })
  child.stdout.resume()
  child.stderr.resume()
  return new Promise((resolve) => child.on("close", resolve))
}

async function exportedTree(): Promise<string> {
  const { tree } = await makeJobDirectory(jobsRoot, "launch", slot, "enforced")
  await mkdir(join(tree, "folder"), { recursive: true })
  await writeFile(join(tree, "folder", "file"), "text")
  await chmod(join(tree, "folder", "file"), 0o444)
  for (const path of [join(tree, "folder"), tree]) await chmod(path, 0o555)
  return tree
}

async function listenOn(port: number): Promise<AsyncDisposable> {
  const server = createServer((socket) => socket.destroy())
  await new Promise<void>((resolve, reject) => server.on("error", reject).listen(port, "127.0.0.1", resolve))
  return { [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())) }
}
