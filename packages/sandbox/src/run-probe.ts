import { once } from "node:events"
import { connect } from "node:net"
import { text } from "node:stream/consumers"
import { GalleyError } from "@galley/contract/errors"
import { z } from "zod"
import { launch } from "./launch.ts"
import { type ProbeAttempt, probeProgram } from "./probe-program.ts"
import type { Slot } from "./slot.ts"
import { killGroup } from "./sweep.ts"

const PROBE_TIMEOUT_MS = 30_000

const ProbeReport = z.strictObject({ status: z.string(), openFiles: z.array(z.int()), outcomes: z.array(z.string()) })
/** What a slot's user saw: its `/proc/self/status`, descriptors above 2, and one outcome per attempt (`ok` or an error's name). */
export type ProbeReport = z.infer<typeof ProbeReport>

export type ProbeRequest = Readonly<{
  slot: Slot
  /** Python that the slot's user can start. */
  python: string
  attempts: readonly ProbeAttempt[]
  /** Whether the runner must reach the slot's control port. */
  control: boolean
  signal: AbortSignal
}>

/** Runs the probe as the slot's user. Throws `boundary_unavailable` when it does not answer, or the control port does not. */
export async function runProbe(request: ProbeRequest): Promise<ProbeReport> {
  const { slot, python, attempts, control } = request
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(PROBE_TIMEOUT_MS)])
  const argv = [python, "-I", "-B", "-S", "-c", probeProgram] as const
  const child = launch({ slot, boundary: "enforced", argv, env: {}, cwd: "/", stdin: "pipe" })
  const stop = () => killGroup(child.pid ?? 0)
  signal.addEventListener("abort", stop)
  try {
    const ended = Promise.all([text(child.stderr), once(child, "close", { signal })])
    child.stdin?.on("error", () => undefined) // a probe that did not start; its exit tells
    child.stdin?.end(`${JSON.stringify({ attempts, listen: control ? slot.controlPort : null })}\n`)
    let stdout = ""
    for await (const chunk of child.stdout.setEncoding("utf8")) {
      if (stdout === "" && String(chunk).startsWith("listening")) await reachControlPort(slot, signal)
      stdout += chunk
    }
    const [stderr] = await ended
    if (!stdout.includes("{")) throw new Error(stderr.trim().slice(-300) || "no answer")
    return ProbeReport.parse(JSON.parse(stdout.slice(stdout.indexOf("{"))))
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new GalleyError("boundary_unavailable", `the probe of slot ${slot.index} failed: ${reason}`, { cause })
  } finally {
    signal.removeEventListener("abort", stop)
    stop()
  }
}

async function reachControlPort(slot: Slot, signal: AbortSignal): Promise<void> {
  const socket = connect(slot.controlPort, "127.0.0.1")
  signal.addEventListener("abort", () => socket.destroy())
  if ((await text(socket)) !== "galley") throw new Error(`the control port ${slot.controlPort} did not answer`)
}
