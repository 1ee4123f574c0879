import { existsSync } from "node:fs"
import { mkdir, readdir, rm, writeFile } from "node:fs/promises"
import { homedir } from "node:os"
import { join } from "node:path"
import { z } from "zod"
import { GalleyError } from "../../packages/contract/src/errors.ts"
import { findOnPath } from "./find-on-path.ts"
import type { Log } from "./install-step.ts"
import { runCommand } from "./run-command.ts"

const Python = z.object({
  /** The interpreter itself: no shim, no link, no virtual environment. */
  executable: z.string(),
  version: z.string(),
  prefix: z.string(),
  /** Directory baked into a dynamically linked interpreter as the place of its library; null when it needs none. */
  libraryDirectory: z.string().nullable(),
})
export type Python = z.infer<typeof Python>

/** A candidate counts only when this ran: a `python3.12` on PATH can be a shim that exits 127. */
const probe = `
import ctypes, ensurepip, json, os, ssl, sys, sysconfig, venv
if sys.version_info < (3, 12): sys.exit("older than 3.12")
shared = sysconfig.get_config_var("Py_ENABLE_SHARED")
print(json.dumps({
  "executable": os.path.realpath(sys._base_executable),
  "version": sys.version.split()[0],
  "prefix": sys.base_prefix,
  "libraryDirectory": sysconfig.get_config_var("LIBDIR") if shared else None,
}))`

/** Pinned uv, fetched with pip when no Python 3.12 is there. */
const uvRequirement = "uv==0.13.9 --hash=sha256:d7f459fe4fd247d830351c75686d3996ace3c6f3f728eb0e85a30b7ada0cef19"

/**
 * Finds a Python of at least 3.12: on PATH, among pyenv's versions, then by `uv python install` into `<prefix>/uv-python`.
 * Throws `engine_missing` with everything that was tried.
 */
export async function findPython(prefix: string, log: Log): Promise<Python> {
  const tried: string[] = []
  for (const candidate of [...pathCandidates(), ...(await pyenvCandidates())]) {
    const python = await tryPython(candidate, tried)
    if (python) return python
  }
  const managed = await installWithUv(prefix, log, tried)
  if (managed) return managed
  throw new GalleyError(
    "engine_missing",
    `no working Python of at least 3.12 with venv and ssl; install one (python3.12 and python3.12-venv) and run again. Tried:\n  ${tried.join("\n  ")}`,
  )
}

/** Runs the probe with one interpreter; a failure is noted in `tried`. */
async function tryPython(command: string, tried: string[]): Promise<Python | null> {
  try {
    return Python.parse(JSON.parse(await runCommand(command, ["-I", "-c", probe], { timeoutMs: 30_000 })))
  } catch (error) {
    tried.push(`${command}: ${lastLine(error)}`)
    return null
  }
}

function pathCandidates(): string[] {
  return ["python3.12", "python3.13", "python3.14", "python3"].flatMap((name) => findOnPath(name) ?? [])
}

async function pyenvCandidates(): Promise<string[]> {
  const versions = join(process.env.PYENV_ROOT ?? join(homedir(), ".pyenv"), "versions")
  if (!existsSync(versions)) return []
  const names = (await readdir(versions)).filter((name) => /^3\.1[2-9]/.test(name))
  return names.sort().map((name) => join(versions, name, "bin", "python3"))
}

async function installWithUv(prefix: string, log: Log, tried: string[]): Promise<Python | null> {
  const tools = join(prefix, "uv-tool")
  const env = { ...process.env, UV_PYTHON_INSTALL_DIR: join(prefix, "uv-python") }
  try {
    const uv = findOnPath("uv") ?? (await fetchUv(tools))
    log("pr-agent: no Python 3.12 here, fetching one with uv")
    await runCommand(uv, ["python", "install", "3.12", "--no-bin"], { env, timeoutMs: 300_000 })
    return await tryPython((await runCommand(uv, ["python", "find", "--managed-python", "3.12"], { env })).trim(), tried)
  } catch (error) {
    await rm(env.UV_PYTHON_INSTALL_DIR, { recursive: true, force: true })
    tried.push(`uv python install: ${lastLine(error)}`)
    return null
  } finally {
    await rm(tools, { recursive: true, force: true })
  }
}

/** Installs the pinned uv into a throwaway directory with any Python's pip. */
async function fetchUv(tools: string): Promise<string> {
  await mkdir(tools, { recursive: true })
  const requirements = join(tools, "requirements.txt")
  await writeFile(requirements, uvRequirement)
  const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes"]
  await runCommand("python3", [...pip, "--target", tools, "-r", requirements])
  return join(tools, "bin", "uv")
}

function lastLine(error: unknown): string {
  return (
    String(error instanceof Error ? error.message : error)
      .trim()
      .split("\n")
      .at(-1) ?? ""
  )
}
