import { type ChildProcessByStdio, spawn } from "node:child_process"
import type { Readable, Writable } from "node:stream"
import type { BoundaryMode, Slot } from "./slot.ts"

const GIB = 1024 ** 3

/** Limits of every engine process; the memory of a whole slot is bounded by `watchMemory`. */
const resourceLimits = { core: 0, nofile: 1_024, fsize: 256 * 1024 ** 2, as: 8 * GIB }
/** Processes and threads of a slot's user. The kernel counts per user, so this is no limit for a user shared with other work. */
const MAX_SLOT_TASKS = 256

export type LaunchRequest = Readonly<{
  slot: Slot
  boundary: BoundaryMode
  /** Program (absolute path) and arguments. Everybody on the machine can read them: never a secret. */
  argv: readonly [string, ...string[]]
  /** The whole environment; nothing is inherited. */
  env: Readonly<Record<string, string>>
  cwd: string
  stdin: "ignore" | "pipe"
}>

/** `pid` is also the id of its process group. A failed start shows as an `error` event or as exit 126 or 127. */
export type EngineProcess = ChildProcessByStdio<Writable | null, Readable, Readable>

/**
 * Starts a program as the slot's user, without any capability, in a process group of its own.
 * In the `demo` boundary it keeps the runner's user.
 *
 * Node's own `uid` and `gid` options are never used: from a runner with ambient capabilities the child would keep them all.
 */
export function launch(request: LaunchRequest): EngineProcess {
  const { slot, boundary, argv, env, cwd, stdin } = request
  const limits = Object.entries(resourceLimits).map(([name, value]) => `--${name}=${value}:${value}`)
  const wrapper = boundary === "enforced" ? [...limits, `--nproc=${MAX_SLOT_TASKS}:${MAX_SLOT_TASKS}`] : limits
  const setpriv = ["--no-new-privs", "--pdeathsig=KILL", ...(boundary === "enforced" ? dropTo(slot) : [])]
  return spawn(
    "/bin/bash",
    ["--norc", "-p", "-c", launchScript, "launch", String(wrapper.length), ...wrapper, String(setpriv.length), ...setpriv, ...argv],
    { cwd, env, detached: true, stdio: [stdin, "pipe", "pipe"] },
  ) as EngineProcess
}

const dropTo = ({ uid, gid }: Slot): string[] => [
  `--reuid=${uid}`,
  `--regid=${gid}`,
  "--clear-groups",
  "--inh-caps=-all",
  "--ambient-caps=-all",
  "--bounding-set=-all",
]

/**
 * Descriptors that the runner inherited without close-on-exec pass through spawn and setpriv, so they are closed here; only bash can
 * close those above 9. The tools are looked up apart from the engine's PATH, and what bash adds to the environment goes again.
 * `-p` keeps bash from reading start-up files and functions out of the engine's environment, and `--norc` from running `$HOME/.bashrc` with the
 * runner's rights: it takes a pipe of node's for the connection of a remote shell.
 */
const launchScript = `
set -eu
umask 027
for path in /proc/self/fd/*; do
  descriptor=\${path##*/}
  if [ "$descriptor" -gt 2 ]; then eval "exec $descriptor>&-" 2>/dev/null || true; fi
done
find_tool() { PATH=/usr/bin:/bin type -P "$1"; }
limits=("\${@:2:$1}"); shift $(($1 + 1))
privileges=("\${@:2:$1}"); shift $(($1 + 1))
exec "$(find_tool env)" -u PWD -u OLDPWD -u SHLVL -u _ "$(find_tool prlimit)" "\${limits[@]}" -- \\
  "$(find_tool setpriv)" "\${privileges[@]}" -- "$@"
`
