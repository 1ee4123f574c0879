import { existsSync } from "node:fs"
import { join } from "node:path"
import type { JobLimits } from "@galley/contract/limits"

/** Where programs are looked for: fixed, so that nothing is inherited from whoever started the runner. */
const PROGRAM_FOLDERS = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin", "/opt/homebrew/bin"]

export const PROGRAM_PATH = PROGRAM_FOLDERS.join(":")

/** Address space of one git process, in bytes: enough to map the largest allowed pack, small enough to stop a delta bomb. */
const MAX_ADDRESS_BYTES = 1024 * 1024 * 1024
/** Processor seconds of one git process. */
const MAX_CPU_SECONDS = 120

/** The whole environment of every git child. A local command has no protocol at all, so it can never fetch lazily. */
export const localEnvironment: Readonly<Record<string, string>> = {
  PATH: PROGRAM_PATH,
  HOME: "/nonexistent",
  XDG_CONFIG_HOME: "/nonexistent",
  LC_ALL: "C",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_ASKPASS: "/bin/false",
  GIT_NO_REPLACE_OBJECTS: "1",
  GIT_NO_LAZY_FETCH: "1",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_ALLOW_PROTOCOL: "none",
}

/**
 * The environment of a fetch: only the scheme of `gitUrl`, and the token as a header that goes to that origin alone.
 * It is the one place a credential stands in: other users can read arguments, but not the environment.
 */
export function fetchEnvironment(gitUrl: string, token: string | null): Readonly<Record<string, string>> {
  const { protocol, origin } = new URL(gitUrl)
  const environment = { ...localEnvironment, GIT_ALLOW_PROTOCOL: protocol.slice(0, -1) }
  if (token === null) return environment
  return {
    ...environment,
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: `http.${origin}/.extraHeader`,
    GIT_CONFIG_VALUE_0: `Authorization: Basic ${Buffer.from(`x-access-token:${token}`).toString("base64")}`,
  }
}

/**
 * Options before every git command.
 *
 * Objects are not checked with fsck: it refuses histories that are harmless here (an odd `.gitmodules` url), and the export
 * policy alone keeps paths safe. Two pack threads, because each reserves address space from the same bound.
 */
export function gitOptions(limits: JobLimits): readonly string[] {
  const settings = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.quotePath=false",
    "core.protectHFS=false",
    "core.protectNTFS=false",
    `core.bigFileThreshold=${limits.maxFileBytes + 1}`,
    "credential.helper=",
    "protocol.version=2",
    "http.followRedirects=false",
    "http.lowSpeedLimit=1000",
    "http.lowSpeedTime=20",
    "transfer.fsckObjects=false",
    "transfer.unpackLimit=1",
    "transfer.bundleURI=false",
    "fetch.fsckObjects=false",
    "fetch.unpackLimit=1",
    "fetch.recurseSubmodules=false",
    "fetch.writeCommitGraph=false",
    "submodule.recurse=false",
    "pack.threads=2",
    "gc.auto=0",
    "maintenance.auto=false",
    "log.showSignature=false",
  ]
  return settings.flatMap((setting) => ["-c", setting])
}

/**
 * The words in front of `git`: operating-system limits on files, processor time and memory, then no capabilities at all
 * (a runner that may change users must not lend that to a parser of hostile data). Each is used where the system has it.
 */
export function launchWords(limits: JobLimits): readonly string[] {
  const found = (program: string): boolean => PROGRAM_FOLDERS.some((folder) => existsSync(join(folder, program)))
  const bounds = [`--fsize=${limits.maxCheckoutBytes}`, `--as=${MAX_ADDRESS_BYTES}`, `--cpu=${MAX_CPU_SECONDS}`, "--core=0"]
  const drop = ["--no-new-privs", "--inh-caps=-all", "--ambient-caps=-all", "--bounding-set=-all", "--pdeathsig=KILL"]
  return [...(found("prlimit") ? ["prlimit", ...bounds] : []), ...(found("setpriv") ? ["setpriv", ...drop] : []), "git"]
}
