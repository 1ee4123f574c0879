import { chmod, mkdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { type Canary, canaryHosts, openTcpCanary, openUdpCanary } from "./canary.ts"
import { type JobDirectory, makeJobDirectory, removeJobDirectory } from "./job-directory.ts"
import {
  type BoundaryCheck,
  type Expectation,
  type ExpectedCanary,
  judgeArrivals,
  judgeIdentity,
  judgeOutcomes,
  judgeRunner,
  refused,
} from "./judge-probe.ts"
import { treeWriteOperations } from "./probe-program.ts"
import { runProbe } from "./run-probe.ts"
import { runProgram } from "./run-program.ts"
import type { BoundaryMode, Slot } from "./slot.ts"

export type { BoundaryCheck, BoundaryCheckId } from "./judge-probe.ts"

/** The evidence behind a runner's capabilities. `passed` is true only when every check is. */
export type BoundaryProof = Readonly<{ passed: boolean; checks: readonly BoundaryCheck[] }>

export type BoundaryRequest = Readonly<{
  slots: readonly Slot[]
  boundary: BoundaryMode
  /** Directory of all jobs. */
  jobsRoot: string
  /** Python that slot users can start, e.g. `<prefix>/pr-agent/bin/python`. */
  python: string
  signal: AbortSignal
}>

/**
 * Proves the boundary of every slot by trying to break it, with live targets (see `BoundaryCheckId`). Slots must be idle: the check
 * takes their gateway and control ports. In the `demo` boundary there is nothing to prove and no check is made.
 *
 * Throws `boundary_unavailable` when a check cannot even be made.
 */
export async function checkBoundary(request: BoundaryRequest): Promise<BoundaryProof> {
  if (request.boundary === "demo") return { passed: true, checks: [] }
  const checks: BoundaryCheck[] = [await checkRunner()]
  for (const slot of request.slots) checks.push(...(await checkSlot(slot, request)))
  return { passed: checks.every((check) => check.passed), checks }
}

/** N6, seen from inside and by trying to read the rules. */
async function checkRunner(): Promise<BoundaryCheck> {
  const check = judgeRunner(await readFile("/proc/self/status", "utf8"))
  const rules = await runProgram("nft", ["list", "tables"])
  return rules.code === 0 ? { ...check, passed: false, detail: `${check.detail}; it can read the egress rules` } : check
}

async function checkSlot(slot: Slot, request: BoundaryRequest): Promise<BoundaryCheck[]> {
  const { slots, jobsRoot, python, signal } = request
  await using cleanup = new AsyncDisposableStack()
  const other = slots.find((candidate) => candidate.index !== slot.index) ?? { ...slot, gid: process.getgid?.() ?? 0 }
  const own = await sampleJob(jobsRoot, `self-check-${slot.index}`, slot)
  cleanup.defer(() => removeJobDirectory(own, slot, "enforced"))
  const foreign = await sampleJob(jobsRoot, `self-check-${slot.index}-other`, other)
  cleanup.defer(() => removeJobDirectory(foreign, other, "enforced"))
  const canaries = await openCanaries(slot, slots, signal)
  cleanup.defer(() => canaries.forEach(({ canary }) => void canary.close()))

  const expectations: Expectation[] = [
    ...canaries.map(({ canary, ...rest }) => ({ ...rest, attempt: { operation: canary.operation, host: canary.host, port: canary.port } })),
    ...networkRefusals(slot, canaries),
    ...(await nameServiceRefusals()),
    ...secretRefusals(jobsRoot, own, foreign),
    ...exportExpectations(own, jobsRoot),
  ]
  const report = await runProbe({ slot, python, attempts: expectations.map(({ attempt }) => attempt), control: true, signal })
  return [
    judgeIdentity(slot, report.status, report.openFiles),
    { id: "P3", slot: slot.index, passed: true, detail: `the runner reached control port ${slot.controlPort}` },
    ...judgeOutcomes(slot, expectations, report.outcomes),
    ...judgeArrivals(slot, canaries),
  ]
}

/** Own gateway (P2); anything else on this machine (N1, N3 for UDP); the other slots' ports (N2). */
async function openCanaries(slot: Slot, slots: readonly Slot[], signal: AbortSignal): Promise<ExpectedCanary[]> {
  const opened: ExpectedCanary[] = []
  const open = async (id: Expectation["id"], expect: Expectation["expect"], canary: Promise<Canary>) =>
    void opened.push({ id, expect, canary: await canary })
  try {
    await open("P2", "allowed", openTcpCanary("127.0.0.1", slot.gatewayPort, signal))
    for (const host of canaryHosts()) {
      await open("N1", "refused", openTcpCanary(host, 0, signal))
      await open("N3", "refused", openUdpCanary(host, signal))
    }
    for (const { index, gatewayPort, controlPort } of slots) {
      if (index === slot.index) continue
      await open("N2", "refused", openTcpCanary("127.0.0.1", gatewayPort, signal))
      await open("N2", "refused", openTcpCanary("127.0.0.1", controlPort, signal))
    }
    return opened
  } catch (error) {
    for (const { canary } of opened) canary.close()
    throw error
  }
}

/** The answers of the control port are let through, so nothing may be opened from there either. */
function networkRefusals(slot: Slot, canaries: readonly ExpectedCanary[]): Expectation[] {
  const target = canaries.find(({ id, canary }) => id === "N1" && canary.host === "127.0.0.1")?.canary
  return [
    ...(target ? [refused("N1", { operation: "connect", host: target.host, port: target.port, fromPort: slot.controlPort })] : []),
    refused("N1", { operation: "open_raw_socket" }),
  ]
}

/** Name servers are asked directly as well: without a network a failed look-up alone would prove nothing. */
async function nameServiceRefusals(): Promise<Expectation[]> {
  const configured = await readFile("/etc/resolv.conf", "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return ""
    throw error
  })
  const servers = [...configured.matchAll(/^nameserver\s+([0-9a-fA-F.:]+)\s*$/gm)].flatMap(([, address]) => address ?? [])
  return [...new Set(["127.0.0.1", "127.0.0.11", "127.0.0.53", ...servers])]
    .map((host) => refused("N3", { operation: "send_udp", host, port: 53 }))
    .concat(refused("N4", { operation: "resolve", name: "example.com" }))
}

function secretRefusals(jobsRoot: string, own: JobDirectory, foreign: JobDirectory): Expectation[] {
  return [
    refused("N5", { operation: "read", path: `/proc/${process.pid}/environ` }),
    refused("N5", { operation: "read", path: "/proc/1/environ" }),
    refused("N5", { operation: "list", path: jobsRoot }),
    refused("N5", { operation: "list", path: foreign.path }),
    refused("N5", { operation: "read", path: join(foreign.tree, "folder", "file.txt") }),
    refused("N5", { operation: "list", path: join(own.path, "git") }),
  ]
}

function exportExpectations(job: JobDirectory, jobsRoot: string): Expectation[] {
  const allowed = (attempt: Expectation["attempt"]): Expectation => ({ id: "P4", expect: "allowed", attempt })
  const file = join(job.tree, "folder", "file.txt")
  return [
    ...treeWriteOperations.map((operation) => refused("P4", { operation, path: file })),
    ...(["rename", "chmod", "create_beside"] as const).map((operation) => refused("P4", { operation, path: join(job.tree, "folder") })),
    refused("P4", { operation: "create_beside", path: join(job.run, "file.txt") }),
    refused("P4", { operation: "create_beside", path: join(job.path, "file.txt") }),
    refused("P4", { operation: "create_beside", path: join(jobsRoot, "file.txt") }),
    allowed({ operation: "read", path: file }),
    allowed({ operation: "list", path: job.run }),
    allowed({ operation: "create_beside", path: join(job.scratch, "file.txt") }),
  ]
}

/** A job as a checkout leaves it. */
async function sampleJob(jobsRoot: string, jobId: string, slot: Slot): Promise<JobDirectory> {
  const job = await makeJobDirectory(jobsRoot, jobId, slot, "enforced")
  const folder = join(job.tree, "folder")
  await mkdir(folder, { recursive: true })
  await mkdir(join(job.path, "git"), { mode: 0o700 })
  await writeFile(join(folder, "file.txt"), "sample\n")
  await chmod(join(folder, "file.txt"), 0o444)
  for (const directory of [folder, job.tree]) await chmod(directory, 0o555)
  return job
}
