import { GalleyError } from "@galley/contract/errors"
import { canaryHosts, openTcpCanary } from "./canary.ts"
import { judgeArrivals, judgeIdentity, judgeOutcomes, refused } from "./judge-probe.ts"
import { runAsSlot } from "./run-as-slot.ts"
import { runProbe } from "./run-probe.ts"
import { requireProgram } from "./run-program.ts"
import type { BoundaryMode, Slot } from "./slot.ts"

export type LaunchCheck = Readonly<{
  slot: Slot
  boundary: BoundaryMode
  treePath: string
  python: string
  signal: AbortSignal
}>

/**
 * The cheap part, before each engine: the export is read-only for the slot's user, who is who it must be, reaches the job's gateway
 * (already listening) and no canary. In the `demo` boundary only the modes of the export are checked.
 *
 * Throws `boundary_unavailable` naming what failed.
 */
export async function checkLaunch(check: LaunchCheck): Promise<void> {
  const { slot, boundary, treePath, python, signal } = check
  const odd = await requireProgram(
    "find",
    [treePath, "-not", "(", "-type", "f", "-perm", "0444", "-o", "-type", "d", "-perm", "0555", ")", "-print", "-quit"],
    { signal },
  )
  if (odd !== "") throw new GalleyError("boundary_unavailable", "the export holds something else than read-only files and directories")
  if (boundary === "demo") return
  await checkExportAsSlot(slot, treePath, signal)
  const hosts = canaryHosts()
  const canaries = await Promise.all(hosts.map((host) => openTcpCanary(host, 0, signal)))
  try {
    const gateway = { id: "P2", expect: "allowed", attempt: { operation: "connect", host: "127.0.0.1", port: slot.gatewayPort } } as const
    const expectations = [gateway, ...canaries.map(({ operation, host, port }) => refused("N1", { operation, host, port }))]
    const report = await runProbe({ slot, python, attempts: expectations.map(({ attempt }) => attempt), control: false, signal })
    const failed = [
      judgeIdentity(slot, report.status, report.openFiles),
      ...judgeOutcomes(slot, expectations, report.outcomes),
      ...judgeArrivals(
        slot,
        canaries.map((canary) => ({ id: "N1", expect: "refused", canary })),
      ),
    ].find(({ passed }) => !passed)
    if (failed) throw new GalleyError("boundary_unavailable", `${failed.id}: ${failed.detail}`)
  } finally {
    for (const canary of canaries) canary.close()
  }
}

async function checkExportAsSlot(slot: Slot, treePath: string, signal: AbortSignal): Promise<void> {
  const offending = ["(", "-writable", "-o", "!", "-readable", "-o", "(", "!", "-type", "f", "-a", "!", "-type", "d", ")", ")"]
  const argv = ["/usr/bin/find", treePath, ...offending, "-print", "-quit"] as const
  const { code, stdout } = await runAsSlot(slot, "enforced", argv, { signal })
  if (code !== 0 || stdout !== "") throw new GalleyError("boundary_unavailable", "the slot's user can write the export, or cannot read it")
}
