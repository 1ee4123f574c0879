import { randomBytes } from "node:crypto"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { migrate } from "@galley/store/migrate"
import postgres from "postgres"
import type { TestProject } from "vitest/node"
import { startPostgres } from "../../scripts/postgres.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** Superuser URL of the cluster of this test run. */
    adminUrl: string
    /** Migrated, empty database that `freshDatabase` copies. */
    templateDatabase: string
  }
}

/** One cluster for a whole test run: TEST_DATABASE_URL (a superuser's) when set, else an embedded one without fsync. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const cluster = await startCluster(process.env.TEST_DATABASE_URL)
  const template = `galley_template_${randomBytes(6).toString("hex")}`
  const admin = postgres(cluster.url, { max: 1, onnotice: () => {} })
  try {
    await admin`create database ${admin(template)}`
    await migrate(databaseUrl(cluster.url, template))
  } catch (error) {
    await cluster.stop()
    throw error
  }
  project.provide("adminUrl", cluster.url)
  project.provide("templateDatabase", template)
  return async () => {
    await admin`drop database ${admin(template)} with (force)`
    await admin.end()
    await cluster.stop()
  }
}

async function startCluster(url: string | undefined): Promise<{ url: string; stop(): Promise<void> }> {
  if (url) return { url, stop: async () => {} }
  const dataDirectory = await mkdtemp(join(tmpdir(), "galley-test-postgres-"))
  const settings = { fsync: "off", synchronous_commit: "off", full_page_writes: "off", log_min_messages: "log" }
  const server = await startPostgres({ dataDirectory, settings, log: () => {} })
  return {
    url: server.url,
    stop: async () => {
      await server.stop()
      await rm(dataDirectory, { recursive: true, force: true })
    },
  }
}

function databaseUrl(adminUrl: string, name: string): string {
  const url = new URL(adminUrl)
  url.pathname = `/${name}`
  return url.href
}
