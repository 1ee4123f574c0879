import { chmod, mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { migrate } from "@galley/store/migrate"
import postgres from "postgres"
import { startPostgres } from "../../scripts/postgres.ts"
import { cpuMsOfTree } from "../measure/cpu-time.ts"

/** A Postgres of this run alone, with fsync and all defaults: what is acknowledged is on the disk. */
export type Cluster = Readonly<{
  /** Address of a new database; `migrated`: with Galley's schema. */
  createDatabase(name: string, options?: { migrated?: boolean }): Promise<string>
  /** Milliseconds of CPU time that all its processes took so far. */
  cpuMs(): number
  stop(): Promise<void>
}>

export async function startCluster(): Promise<Cluster> {
  const directory = await mkdtemp(join(tmpdir(), "galley-bench-"))
  // The server is another user than root.
  await chmod(directory, 0o755)
  const dataDirectory = join(directory, "postgres")
  const server = await startPostgres({ dataDirectory, log: () => undefined })
  const pid = Number.parseInt(await readFile(join(dataDirectory, "cluster", "postmaster.pid"), "utf8"), 10)
  const admin = postgres(server.url, { max: 1, onnotice: () => {} })
  return {
    async createDatabase(name, options = {}) {
      await admin`create database ${admin(name)}`
      const url = new URL(server.url)
      url.pathname = `/${name}`
      if (options.migrated) await migrate(url.href)
      return url.href
    },
    cpuMs: () => cpuMsOfTree(pid),
    async stop() {
      await admin.end()
      await server.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
