import { readFile, rm } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { GalleyError } from "../../packages/contract/src/errors.ts"
import { findPython } from "./find-python.ts"
import { installProgram } from "./install-opencode.ts"
import type { InstallStep, Log } from "./install-step.ts"
import { reachablePython } from "./relocate-python.ts"
import { runCommand } from "./run-command.ts"

const PIP_TIMEOUT_MS = 30 * 60_000
const PROGRESS_PACKAGES = 20

const diffEngine = (name: string) => fileURLToPath(new URL(`../../packages/engine/src/diff/${name}`, import.meta.url))

/** Installs the hash-locked PR-Agent as the virtual environment `<prefix>/pr-agent`, byte code compiled. */
export async function prAgentStep(prefix: string, log: Log): Promise<InstallStep> {
  const requirements = diffEngine("requirements.lock")
  const lock = await readFile(requirements, "utf8")
  const environment = join(prefix, "pr-agent")
  const python = join(environment, "bin", "python")
  return {
    name: "pr-agent",
    inputs: [lock],
    target: python,
    install: async () => {
      const interpreter = await reachablePython(await findPython(prefix, log), prefix, log)
      await rm(environment, { recursive: true, force: true })
      await runCommand(interpreter, ["-I", "-m", "venv", environment])
      const pip = ["-I", "-m", "pip", "install", "--progress-bar=off", "--disable-pip-version-check", "--no-input"]
      await runCommand(python, [...pip, "--only-binary=:all:", "--no-deps", "--require-hashes", "--no-compile", "-r", requirements], {
        timeoutMs: PIP_TIMEOUT_MS,
        onOutput: tellProgress(lock, log),
      })
      // in parallel, which pip does not; a start from byte code takes half the time, and slot users cannot write any
      await runCommand(python, ["-I", "-m", "compileall", "-q", "-j0", join(environment, "lib")])
    },
  }
}

/** The download takes a minute or two: says every so often how far it is. */
function tellProgress(lock: string, log: Log): (text: string) => void {
  const total = lock.match(/^[a-z0-9][^\s=]*==/gim)?.length ?? 0
  let fetched = 0
  return (text) => {
    const before = Math.floor(fetched / PROGRESS_PACKAGES)
    fetched += text.match(/^\s*(?:Downloading|Using cached) /gm)?.length ?? 0
    if (Math.floor(fetched / PROGRESS_PACKAGES) > before) log(`pr-agent: ${fetched} of about ${total} packages fetched`)
  }
}

/** Copies the program of a prewarmed PR-Agent to `<prefix>/pr-agent/prewarm.py`. Throws `engine_missing` when the checkout has none. */
export async function prewarmStep(prefix: string): Promise<InstallStep> {
  const source = diffEngine("prewarm.py")
  const text = await readFile(source, "utf8").catch((cause) => {
    throw new GalleyError("engine_missing", `${source} cannot be read; this checkout is incomplete`, { cause })
  })
  const target = join(prefix, "pr-agent", "prewarm.py")
  return { name: "pr-agent-prewarm", inputs: [text], target, install: () => installProgram(source, target) }
}
