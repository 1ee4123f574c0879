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

/**
 * Proves what these idle slots can do: the boundary by trying to break it, then each engine by its integrity. A kind that is not proved is
 * not offered, whatever stood in the way; the reason is logged.
 *
 * @param signal its reason is thrown
 * @returns one capability per proved kind; empty when the boundary does not hold
 */
export async function proveCapabilities(
  config: RunnerConfig,
  slots: readonly Slot[],
  signal: AbortSignal,
  log: Logger,
): Promise<Capability[]> {
  if (!(await boundaryHolds(config, slots, signal, log))) return []
  const now = Date.now()
  const capabilities: Capability[] = []
  for (const kind of config.kinds) {
    try {
      const engine = await verifyEngine(kind, { path: config.prefix }, signal)
      capabilities.push({
        kind,
        engineVersion: `${engine.name} ${engine.version}`,
        boundary: config.boundary,
        checkedAt: new Date(now).toISOString(),
        expiresAt: new Date(now + PROOF_LIFETIME_MS).toISOString(),
      })
    } catch (error) {
      signal.throwIfAborted()
      log.error({ kind, code: errorCode(error), err: error }, "the engine is not usable")
    }
  }
  return capabilities
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
