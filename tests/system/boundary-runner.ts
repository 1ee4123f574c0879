import { once } from "node:events"
import { readdir, rename, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { makeJobDirectory, removeJobDirectory } from "@galley/sandbox/job-directory"
import { launch } from "@galley/sandbox/launch"
import { checkBoundary } from "@galley/sandbox/self-check"
import { makeSlots } from "@galley/sandbox/slot"
import { sweepSlot } from "@galley/sandbox/sweep"

/**
 * A runner as far as the boundary is concerned: proves it, ends and deletes a hostile job, then leaves an engine process that
 * detached itself and a file, and waits. Arguments: directory for `report.json`, job root, Python, first slot user, gateway port,
 * control port.
 */
const [output = "", jobsRoot = "", python = "", uid, gatewayPort, controlPort] = process.argv.slice(2)
const slots = makeSlots(2, { uid: Number(uid), gatewayPort: Number(gatewayPort), controlPort: Number(controlPort) })
const [slot] = slots
if (!slot) throw new Error("no slot")
const run = (script: string) =>
  launch({ slot, boundary: "enforced", argv: ["/bin/bash", "-c", script], env: { PATH: "/usr/bin:/bin" }, cwd: "/", stdin: "ignore" })

const proof = await checkBoundary({ slots, boundary: "enforced", jobsRoot, python, signal: AbortSignal.timeout(60_000) })

const job = await makeJobDirectory(jobsRoot, "hostile", slot, "enforced")
const hostile = run(`cd ${job.scratch}; mkdir -p a/b; echo x >a/b/c; chmod 0 a/b a; setsid sleep 300 >/dev/null 2>&1 &`)
await once(hostile, "close")
await sweepSlot(slot, "enforced", [hostile.pid ?? 0])
await removeJobDirectory(job, slot, "enforced")
const jobsLeft = await readdir(jobsRoot)

run(`echo left >"/tmp/galley-left-$UID"; (setsid bash -c 'trap "" TERM HUP; sleep 300 & sleep 300 & wait' &) ; sleep 300; true`)
await writeFile(join(output, "report.part"), JSON.stringify({ proof, jobsLeft }))
await rename(join(output, "report.part"), join(output, "report.json"))
process.on("SIGTERM", () => process.exit(0))
setInterval(() => undefined, 60_000)
