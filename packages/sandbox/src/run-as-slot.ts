import { once } from "node:events"
import { text } from "node:stream/consumers"
import { type LaunchRequest, launch } from "./launch.ts"
import type { ProgramResult } from "./run-program.ts"
import type { BoundaryMode, Slot } from "./slot.ts"
import { killGroup } from "./sweep.ts"

/** Runs a short program of the system as the slot's user, to its end. On abort its group is killed and the call rejects. */
export async function runAsSlot(
  slot: Slot,
  boundary: BoundaryMode,
  argv: LaunchRequest["argv"],
  options: { signal?: AbortSignal; input?: string } = {},
): Promise<ProgramResult> {
  const { signal, input } = options
  const env = { PATH: "/usr/bin:/bin", LC_ALL: "C" }
  const child = launch({ slot, boundary, argv, env, cwd: "/", stdin: input === undefined ? "ignore" : "pipe" })
  const stop = () => killGroup(child.pid ?? 0)
  signal?.addEventListener("abort", stop)
  child.stdin?.on("error", () => undefined) // a program that ends early does not read its input; its exit code tells
  child.stdin?.end(input)
  try {
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")])
    signal?.throwIfAborted()
    return { code: code as number | null, stdout, stderr }
  } finally {
    signal?.removeEventListener("abort", stop)
  }
}
