import { once } from "node:events"
import { createServer, type Server } from "node:net"
import { setTimeout as delay } from "node:timers/promises"
import type { Log } from "./install-step.ts"

const RETRY_MS = 200

/**
 * Runs `work` while no other set-up of this machine changes the same prefix. The lock is the name of an abstract socket: only one
 * process can hold it, and the kernel gives it back however that process ends.
 */
export async function withSetupLock<T>(prefix: string, log: Log, work: () => Promise<T>): Promise<T> {
  const name = `\0galley-setup:${prefix}`
  let lock = await takeLock(name)
  if (!lock) log(`waiting for another set-up of ${prefix}`)
  while (!lock) {
    await delay(RETRY_MS)
    lock = await takeLock(name)
  }
  try {
    return await work()
  } finally {
    lock.close()
  }
}

async function takeLock(name: string): Promise<Server | null> {
  const server = createServer()
  try {
    await once(server.listen(name), "listening")
    return server
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") return null
    throw error
  }
}
