import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { GalleyError } from "@galley/contract/errors"
import type { BoundaryMode, Slot } from "@galley/sandbox/slot"
import type { EnginePrefix } from "../engine.ts"
import { prewarmPath, pythonPath } from "../engine-manifest.ts"
import { ENGINE_START_TIMEOUT_MS } from "../engine-times.ts"
import { type EngineExit, orAborted, type RunningEngine, startEngine } from "../running-engine.ts"

/** One command line for PR-Agent. `cwd` is an empty directory without a repository above it; `onGiven` is called when it starts to work. */
export type PrAgentCommand = Readonly<{ argv: readonly string[]; cwd: string; maxMemoryBytes: number; onGiven: () => void }>

/** A PR-Agent that has loaded everything and waits for its single job. It holds about 300 MB and no secret. */
export type PrewarmedPrAgent = Readonly<{
  /** False once it was given a job, closed, or ended. */
  usable(): boolean
  /**
   * Waits until it is ready, gives it its one command, and returns how it ended; nothing of it is left then.
   * Throws `engine_start_timeout`, `engine_start_failed`, `engine_memory_exceeded`, or the reason of `signal`.
   */
  run(command: PrAgentCommand, signal: AbortSignal): Promise<EngineExit>
  /** Ends it, used or not. */
  close(): Promise<void>
}>

/**
 * Starts a single-use PR-Agent under its final user and limits, before any job is known: a start takes seconds, a job then 0.2.
 * Never share one between jobs. Throws `engine_missing` when PR-Agent is not installed.
 */
export async function startPrewarmed(slot: Slot, boundary: BoundaryMode, prefix: EnginePrefix): Promise<PrewarmedPrAgent> {
  const engine = startEngine({
    slot,
    boundary,
    argv: [pythonPath(prefix), "-I", "-B", prewarmPath(prefix)],
    env: await prAgentEnvironment(prefix),
    cwd: "/",
    stdin: "pipe",
  })
  let given = false
  return {
    usable: () => !given && !engine.ended.aborted,
    run: (command, signal) => {
      given = true
      return engine.supervise(command.maxMemoryBytes, signal, (supervised) => runOnce(engine, command, supervised))
    },
    close: () => {
      given = true
      return engine.stop()
    },
  }
}

async function runOnce(engine: RunningEngine, { argv, cwd, onGiven }: PrAgentCommand, signal: AbortSignal): Promise<EngineExit> {
  await engine.waitForOutput(/^ready$/m, ENGINE_START_TIMEOUT_MS, signal)
  engine.stdin?.end(`${JSON.stringify({ argv, env: {}, cwd })}\n`)
  onGiven()
  return await orAborted(engine.exited, signal)
}

/**
 * PR-Agent's whole environment. Every variable is a setting to it and wins over the job's file, so there is no other; these are read
 * when it is loaded, long before a job.
 */
async function prAgentEnvironment(prefix: EnginePrefix): Promise<Record<string, string>> {
  return {
    PATH: "/usr/bin:/bin",
    LANG: "C.UTF-8",
    LOG_LEVEL: "ERROR",
    LITELLM_LOCAL_MODEL_COST_MAP: "True",
    // without it the tokenizer would be downloaded
    TIKTOKEN_CACHE_DIR: join(await sitePackages(prefix), "litellm", "litellm_core_utils", "tokenizers"),
    // also here, because PR-Agent only logs a settings file it cannot read
    CONFIG__PROPAGATE_TOOL_ERRORS: "true",
  }
}

async function sitePackages(prefix: EnginePrefix): Promise<string> {
  const lib = join(prefix.path, "pr-agent", "lib")
  const names = await readdir(lib).catch((cause) => {
    throw new GalleyError("engine_missing", "PR-Agent is not installed", { cause })
  })
  const python = names.find((name) => /^python3\.\d+$/.test(name))
  if (python === undefined) throw new GalleyError("engine_missing", "PR-Agent is not installed")
  return join(lib, python, "site-packages")
}
