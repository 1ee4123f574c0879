import { randomBytes } from "node:crypto"
import postgres from "postgres"
import { inject, onTestFinished } from "vitest"

/**
 * A database of its own, copied from the migrated template and dropped when the test ends.
 * With `copyOf`, the address of a database that nobody uses now, copied from that one.
 * Inside `beforeAll` pass `keep: true` and call `drop` in `afterAll`.
 */
export async function freshDatabase(
  options: { keep?: boolean; empty?: boolean; copyOf?: string } = {},
): Promise<{ url: string; drop(): Promise<void> }> {
  const adminUrl = inject("adminUrl")
  const name = `galley_test_${randomBytes(8).toString("hex")}`
  const migrated = options.copyOf === undefined ? inject("templateDatabase") : new URL(options.copyOf).pathname.slice(1)
  const template = options.empty ? "template0" : migrated
  await withAdmin(adminUrl, (admin) => admin`create database ${admin(name)} template ${admin(template)}`)
  const drop = () => withAdmin(adminUrl, (admin) => admin`drop database if exists ${admin(name)} with (force)`)
  if (!options.keep) onTestFinished(drop)
  const url = new URL(adminUrl)
  url.pathname = `/${name}`
  return { url: url.href, drop }
}

async function withAdmin(url: string, run: (admin: postgres.Sql) => Promise<unknown>): Promise<void> {
  const admin = postgres(url, { max: 1, onnotice: () => {} })
  try {
    await run(admin)
  } finally {
    await admin.end()
  }
}
