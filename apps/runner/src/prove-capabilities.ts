import { errorCode } from "@galley/contract/errors"
import type { Capability } from "@galley/contract/protocol"
import { pythonPath, verifyEngine } from "@galley/engine/engine-manifest"
import { checkBoundary } from "@galley/sandbox/self-check"
import type { Slot } from "@galley/sandbox/slot"
import type { Logger } from "pino"
import type { RunnerConfig } from "./config.ts"

/** How long a proof counts for the server, and after which time an idle slot proves itself again. */
export const PROOF_LIFETIME_MS = 30 * 60_000
export const PROOF_RENEWAL_MS = 10 * 60_000

/** A proof without its times. */
export type Proof = Omit<Capability, "checkedAt" | "expiresAt">

/**
 * Gives proofs their times by the clock as it is now, which may have jumped since they were made.
 *
 * @param ageMs how long ago they were made, by monotonic time
 */
export function dateProofs(proofs: readonly Proof[], ageMs: number): Capability[] {
  const madeMs = Date.now() - ageMs
  const times = { checkedAt: new Date(madeMs).toISOString(), expiresAt: new Date(madeMs + PROOF_LIFETIME_MS).toISOString() }
  return proofs.map((proof) => ({ ...proof, ...times }))
}

/**
 * Proves what these idle slots can do: the boundary by trying to break it, then each engine by its integrity. A kind that is not proved is
 * not offered, whatever stood in the way; the reason is logged.
 *
 * @param signal its reason is thrown
 * @returns one proof per proved kind; empty when the boundary does not hold or no engine is usable
 */
export async function proveCapabilities(config: RunnerConfig, slots: readonly Slot[], signal: AbortSignal, log: Logger): Promise<Proof[]> {
  if (!(await boundaryHolds(config, slots, signal, log))) return []
  const proofs: Proof[] = []
  for (const kind of config.kinds) {
    try {
      const engine = await verifyEngine(kind, { path: config.prefix }, signal)
      proofs.push({ kind, engineVersion: `${engine.name} ${engine.version}`, boundary: config.boundary })
    } catch (error) {
      signal.throwIfAborted()
      log.error({ kind, code: errorCode(error), err: error }, "the engine is not usable")
    }
  }
  return proofs
}

async function boundaryHolds(config: RunnerConfig, slots: readonly Slot[], signal: AbortSignal, log: Logger): Promise<boolean> {
  const python = pythonPath({ path: config.prefix })
  try {
    const { checks, passed } = await checkBoundary({ slots, boundary: config.boundary, jobsRoot: config.jobsDirectory, python, signal })
    for (const { id, detail } of checks.filter((check) => !check.passed)) log.error({ check: id, detail }, "the boundary does not hold")
    return passed
  } catch (error) {
    signal.throwIfAborted()
    log.error({ code: errorCode(error), err: error }, "the boundary could not be checked")
    return false
  }
}
