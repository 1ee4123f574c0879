import { mkdir, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import type { Log } from "./install-step.ts"

/** Runs `work` while no other set-up changes the same prefix. A lock whose process is gone is taken over. */
export async function withSetupLock<T>(prefix: string, log: Log, work: () => Promise<T>): Promise<T> {
  await mkdir(prefix, { recursive: true })
  const lock = join(prefix, ".setup-lock")
  let told = false
  while (!(await takeLock(lock))) {
    const holder = Number(await readFile(lock, "utf8").catch(() => ""))
    if (!isAlive(holder)) await rm(lock, { force: true })
    else if (!told) {
      log(`waiting for the set-up of process ${holder}`)
      told = true
    }
    await delay(200)
  }
  try {
    return await work()
  } finally {
    await rm(lock, { force: true })
  }
}

async function takeLock(lock: string): Promise<boolean> {
  try {
    await writeFile(lock, String(process.pid), { flag: "wx" })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false
    throw error
  }
}

function isAlive(pid: number): boolean {
  if (!(pid > 0)) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"
  }
}
