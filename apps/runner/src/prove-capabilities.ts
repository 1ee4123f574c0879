import { errorCode, GalleyError } from "@galley/contract/errors"
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
 * not offered; the reason is logged.
 *
 * @returns one capability per proved kind; empty when the boundary does not hold
 */
export async function proveCapabilities(
  config: RunnerConfig,
  slots: readonly Slot[],
  signal: AbortSignal,
  log: Logger,
): Promise<Capability[]> {
  const prefix = { path: config.prefix }
  const request = { slots, boundary: config.boundary, jobsRoot: config.jobsDirectory, python: pythonPath(prefix), signal }
  const failed = (await checkBoundary(request)).checks.filter((check) => !check.passed)
  for (const check of failed) log.error({ check: check.id, detail: check.detail }, "the boundary does not hold")
  if (failed.length > 0) return []
  const now = Date.now()
  const capabilities: Capability[] = []
  for (const kind of config.kinds) {
    try {
      const engine = await verifyEngine(kind, prefix, signal)
      capabilities.push({
        kind,
        engineVersion: `${engine.name} ${engine.version}`,
        boundary: config.boundary,
        checkedAt: new Date(now).toISOString(),
        expiresAt: new Date(now + PROOF_LIFETIME_MS).toISOString(),
      })
    } catch (error) {
      if (!(error instanceof GalleyError)) throw error
      log.error({ kind, code: errorCode(error), err: error }, "the engine is not usable")
    }
  }
  return capabilities
}
