import { readdirSync, readFileSync } from "node:fs"

/** A living process as `/proc/<pid>/status` and `stat` show it. */
export type ProcessFacts = Readonly<{
  pid: number
  parent: number
  group: number
  session: number
  /** Real, effective, saved and file system user. */
  uids: readonly number[]
  /** Supplementary groups. */
  groups: readonly number[]
  residentBytes: number
}>

/** Every living process (no zombies). Read synchronously: whatever forks must not get ahead of the reader. */
export function readProcesses(): ProcessFacts[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap(readProcess)
}

/** The facts of one process, or nothing when it ended while we looked. */
function readProcess(pid: string): ProcessFacts[] {
  try {
    return parseProcess(readFileSync(`/proc/${pid}/status`, "latin1"), readFileSync(`/proc/${pid}/stat`, "latin1"))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === "ENOENT" || code === "ESRCH") return []
    throw error
  }
}

/** Pure part of `readProcesses`; nothing for a zombie. */
export function parseProcess(status: string, stat: string): ProcessFacts[] {
  const field = (name: string) => new RegExp(`^${name}:\\s+(.*)$`, "m").exec(status)?.[1] ?? ""
  if (/^[ZX]/.test(field("State"))) return []
  // the command in parentheses may hold spaces and parentheses itself, so count from the last one
  const [, parent, group, session] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  return [
    {
      pid: Number(field("Pid")),
      parent: Number(parent),
      group: Number(group),
      session: Number(session),
      uids: field("Uid").split(/\s+/).map(Number),
      groups: field("Groups").split(/\s+/).filter(Boolean).map(Number),
      residentBytes: Number.parseInt(field("VmRSS") || "0", 10) * 1024,
    },
  ]
}

/** Everything that belongs to a slot's user in one of its four ids. */
export function processesOfUser(processes: readonly ProcessFacts[], uid: number): ProcessFacts[] {
  return processes.filter((process) => process.uids.includes(uid))
}

/** A process, its descendants, and the members of their groups and sessions as far as they started below it. */
export function processesBelow(processes: readonly ProcessFacts[], leader: number): ProcessFacts[] {
  const found = new Map<number, ProcessFacts>()
  const belongs = (candidate: ProcessFacts) =>
    candidate.pid === leader || candidate.group === leader || candidate.session === leader || found.has(candidate.parent)
  for (let before = -1; before !== found.size; ) {
    before = found.size
    for (const process of processes) if (belongs(process)) found.set(process.pid, process)
  }
  return [...found.values()]
}
