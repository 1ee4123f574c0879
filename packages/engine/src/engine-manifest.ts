import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import { join } from "node:path"
import { pipeline } from "node:stream/promises"
import { promisify } from "node:util"
import { GalleyError } from "@galley/contract/errors"
import type { ReviewKind } from "@galley/contract/settings"
import { z } from "zod"
import openCodeJson from "./dynamic/opencode.json" with { type: "json" }
import type { EnginePrefix } from "./engine.ts"

/** The one OpenCode that Galley runs: exact version, and per platform the npm package with the hashes of archive and binary. */
const OpenCodeManifest = z.strictObject({
  version: z.string().regex(/^\d+\.\d+\.\d+$/),
  platforms: z.record(
    z.string(),
    z.strictObject({ package: z.string().min(1), sha512: z.base64(), sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
  ),
})
export const openCodeManifest = OpenCodeManifest.parse(openCodeJson)

/** The one PR-Agent that Galley runs; its requirements are locked by hash in `diff/requirements.lock`. */
export const PR_AGENT_VERSION = "0.48.0"

const PYTHON_TIMEOUT_MS = 30_000
const VERSION_PROGRAM = "import importlib.metadata; print(importlib.metadata.version('pr-agent'))"

/** An engine that was found and proved: what a runner may advertise and a report names. */
export type EngineIdentity = Readonly<{ name: string; version: string }>

export const openCodePath = (prefix: EnginePrefix): string => join(prefix.path, "opencode", openCodeManifest.version, "opencode")
/** Directory that holds `rg` and nothing else: the engine's whole PATH. */
export const ripgrepDirectory = (prefix: EnginePrefix): string => join(prefix.path, "rg")
export const pythonPath = (prefix: EnginePrefix): string => join(prefix.path, "pr-agent", "bin", "python")
export const prewarmPath = (prefix: EnginePrefix): string => join(prefix.path, "pr-agent", "prewarm.py")

/**
 * Proves that the engine of a kind is installed and is the pinned one: OpenCode by the hash of its binary, PR-Agent by its version.
 * Throws `engine_missing` when a part cannot be read or started, `engine_integrity` when it is another one than pinned.
 */
export async function verifyEngine(kind: ReviewKind, prefix: EnginePrefix, signal?: AbortSignal): Promise<EngineIdentity> {
  return kind === "dynamic" ? await verifyOpenCode(prefix, signal) : await verifyPrAgent(prefix, signal)
}

/** Proves both engines; error codes as `verifyEngine`. */
export async function verifyEngines(prefix: EnginePrefix, signal?: AbortSignal): Promise<Readonly<Record<ReviewKind, EngineIdentity>>> {
  const [dynamic, diff] = await Promise.all([verifyEngine("dynamic", prefix, signal), verifyEngine("diff", prefix, signal)])
  return { dynamic, diff }
}

async function verifyOpenCode(prefix: EnginePrefix, signal: AbortSignal | undefined): Promise<EngineIdentity> {
  const platform = `${process.platform}-${process.arch}`
  const pinned = openCodeManifest.platforms[platform]
  if (pinned === undefined) throw new GalleyError("engine_missing", `no OpenCode is pinned for ${platform}`)
  await sha256(join(ripgrepDirectory(prefix), "rg"), signal)
  const found = await sha256(openCodePath(prefix), signal)
  if (found !== pinned.sha256)
    throw new GalleyError("engine_integrity", "the OpenCode binary is not the pinned one", { details: { found } })
  return { name: "opencode", version: openCodeManifest.version }
}

async function verifyPrAgent(prefix: EnginePrefix, signal: AbortSignal | undefined): Promise<EngineIdentity> {
  await sha256(prewarmPath(prefix), signal)
  const found = await installedPrAgent(prefix, signal)
  if (found !== PR_AGENT_VERSION) throw new GalleyError("engine_integrity", "another PR-Agent is installed", { details: { found } })
  return { name: "pr-agent", version: found }
}

async function installedPrAgent(prefix: EnginePrefix, signal: AbortSignal | undefined): Promise<string> {
  try {
    const options = { env: {}, cwd: "/", timeout: PYTHON_TIMEOUT_MS, ...(signal && { signal }) }
    const { stdout } = await promisify(execFile)(pythonPath(prefix), ["-I", "-B", "-c", VERSION_PROGRAM], options)
    return stdout.trim()
  } catch (cause) {
    throw new GalleyError("engine_missing", "PR-Agent cannot be started", { cause })
  }
}

async function sha256(path: string, signal: AbortSignal | undefined): Promise<string> {
  const hash = createHash("sha256")
  try {
    await pipeline(createReadStream(path), hash, { ...(signal && { signal }) })
  } catch (cause) {
    throw new GalleyError("engine_missing", "a part of an engine cannot be read", { cause })
  }
  return hash.digest("hex")
}
