import { readdirSync, readFileSync } from "node:fs"

/** Milliseconds a process has been on a CPU, over all its threads. 0 where the system does not tell (not Linux) or it ended. */
export function cpuMsOf(pid: number): number {
  return threadsOf(pid).reduce((sum, thread) => sum + scheduledMs(`/proc/${pid}/task/${thread}/schedstat`), 0)
}

/** The same of a process and its children, as a Postgres server has one per connection. Children that ended are forgotten. */
export function cpuMsOfTree(pid: number): number {
  const children = threadsOf(pid).flatMap((thread) => read(`/proc/${pid}/task/${thread}/children`).trim().split(" ").filter(Boolean))
  return cpuMsOf(pid) + children.reduce((sum, child) => sum + cpuMsOf(Number(child)), 0)
}

function scheduledMs(path: string): number {
  return Number(read(path).split(" ")[0] || 0) / 1e6
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch (error) {
    return absent(error, [])
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    return absent(error, "")
  }
}

/** A process may end while it is looked at (ENOENT, ESRCH); CPU time is the second figure, so that is no failure of a benchmark. */
function absent<T>(error: unknown, value: T): T {
  if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ESRCH")) return value
  throw error
}
