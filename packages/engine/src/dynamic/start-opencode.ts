import { randomBytes } from "node:crypto"
import { join } from "node:path"
import type { EngineJob } from "../engine.ts"
import { openCodePath, ripgrepDirectory } from "../engine-manifest.ts"
import { ENGINE_START_TIMEOUT_MS } from "../engine-times.ts"
import { makeSlotDirectory } from "../job-files.ts"
import { type RunningEngine, startEngine } from "../running-engine.ts"
import { tokenRoom } from "../token-room.ts"
import { checkRules } from "./check-rules.ts"
import { type OpenCodeClient, openCodeClient } from "./opencode-client.ts"
import { openCodeConfig } from "./opencode-config.ts"
import { type OpenCodeDirectories, openCodeDirectories, openCodeEnvironment } from "./opencode-environment.ts"

const READY_LINE = /^opencode server listening on (http:\/\/127\.0\.0\.1:\d+)$/m

/** Launches the engine in the export, with generated configuration and an environment of its own. */
export async function launchOpenCode(job: EngineJob, systemPrompt: string): Promise<{ engine: RunningEngine; password: string }> {
  const directories = openCodeDirectories(job.scratch, job.runDirectory)
  await makeDirectories(directories, job)
  const password = randomBytes(32).toString("hex")
  const config = openCodeConfig({
    gatewayUrl: job.gateway.url,
    token: job.token,
    systemPrompt,
    dataHome: directories.dataHome,
    ...tokenRoom(job),
    modelCallTimeoutMs: job.limits.modelCallTimeoutMs,
  })
  const engine = startEngine({
    slot: job.slot,
    boundary: job.boundary,
    argv: [openCodePath(job.prefix), "serve", "--hostname", "127.0.0.1", "--port", String(controlPort(job))],
    env: openCodeEnvironment(directories, { ripgrepDirectory: ripgrepDirectory(job.prefix), password, config }),
    cwd: job.checkout.treePath,
    stdin: "ignore",
  })
  return { engine, password }
}

/**
 * Waits for a launched engine and checks that it obeys its configuration. The caller closes the client.
 * Throws `engine_start_timeout`, `engine_start_failed`, `engine_crashed`, `engine_config`, or the reason of `signal`.
 */
export async function connectOpenCode(
  engine: RunningEngine,
  password: string,
  gatewayUrl: string,
  signal: AbortSignal,
): Promise<OpenCodeClient> {
  const [, url = ""] = await engine.waitForOutput(READY_LINE, ENGINE_START_TIMEOUT_MS, signal)
  const client = openCodeClient(url, password)
  try {
    checkRules(await client.agents(signal), await client.config(signal), `${gatewayUrl}/v1`)
    return client
  } catch (error) {
    await client.close()
    throw error
  }
}

/** The egress rules let answers of this port out. Without rules any free port does. */
const controlPort = ({ boundary, slot }: EngineJob) => (boundary === "enforced" ? slot.controlPort : 0)

async function makeDirectories({ configHome, ...own }: OpenCodeDirectories, job: EngineJob): Promise<void> {
  for (const path of Object.values(own)) await makeSlotDirectory(path, 0o2770, job)
  await makeSlotDirectory(configHome, 0o750, job)
  // A configuration directory it cannot write keeps the engine from installing its plugin package.
  await makeSlotDirectory(join(configHome, "opencode"), 0o550, job)
}
