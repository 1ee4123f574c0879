import { readdirSync, readFileSync } from "node:fs"

export type SlotProcess = Readonly<{
  pid: number
  command: string
  environment: string
  groups: string
  capabilities: string
  noNewPrivileges: string
}>

/** What `/proc` shows of every living process of a user. */
export function slotProcesses(uid: number): SlotProcess[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => readProcess(Number(pid), uid))
}

function readProcess(pid: number, uid: number): SlotProcess[] {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8")
    const field = (name: string) => new RegExp(`^${name}:[ \\t]*(.*)$`, "m").exec(status)?.[1]?.trim() ?? ""
    if (field("State").startsWith("Z") || !field("Uid").split("\t").includes(String(uid))) return []
    const text = (name: string) => readFileSync(`/proc/${pid}/${name}`, "latin1").replaceAll("\0", "\n")
    return [
      {
        pid,
        command: text("cmdline"),
        environment: text("environ"),
        groups: field("Groups"),
        capabilities: field("CapBnd"),
        noNewPrivileges: field("NoNewPrivs"),
      },
    ]
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === "ENOENT" || code === "ESRCH") return []
    throw error
  }
}
