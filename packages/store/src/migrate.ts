import { createHash } from "node:crypto"
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { GalleyError } from "@galley/contract/errors"
import postgres, { type Sql } from "postgres"
import { createTaskQueues, createTaskRunner, TASK_SCHEMA } from "./tasks.ts"

/** Of the session that migrates; the claim uses 724001. */
const MIGRATION_LOCK = 724_000

export interface MigrateOptions {
  /** Folder of the migrations; a bundle must name it, sources find `migrations/` at the root. */
  directory?: string
  /** Stop after the file with this name; for tests of a migration between two versions. Leaves the task queues out. */
  upTo?: string
}

interface Migration {
  name: string
  text: string
  checksum: string
}

/**
 * Brings the database to this version: each missing file in its own transaction, then the task queues. Several servers may call it
 * at once: one works, the others wait and find nothing to do. Throws `config_invalid` when an applied file was changed afterwards.
 *
 * @returns names of the files that were applied
 */
export async function migrate(url: string, options: MigrateOptions = {}): Promise<string[]> {
  const migrations = await readMigrations(options.directory)
  const wanted = options.upTo === undefined ? migrations : migrations.filter(({ name }) => name <= (options.upTo ?? ""))
  const sql = connect(url)
  try {
    await sql`select pg_advisory_lock(${MIGRATION_LOCK})`
    await sql`create table if not exists schema_migrations (
      name text primary key, checksum text not null, applied_at timestamptz not null default now())`
    const missing = findMissing(wanted, await appliedChecksums(sql))
    for (const migration of missing) await apply(sql, migration)
    if (options.upTo === undefined) await migrateTasks(url)
    return missing.map(({ name }) => name)
  } finally {
    await sql.end()
  }
}

/**
 * Throws `schema_too_old` unless every migration of this version is applied. A newer schema is fine: migrations keep the previous
 * server version working. Throws `config_invalid` when an applied file was changed.
 */
export async function assertSchema(url: string, options: Pick<MigrateOptions, "directory"> = {}): Promise<void> {
  const check = await readSchemaCheck(options)
  const sql = connect(url)
  try {
    await check(sql)
  } finally {
    await sql.end()
  }
}

/** Reads this version's migrations once; the check it returns does what `assertSchema` does, over a connection that is there. */
export async function readSchemaCheck(options: Pick<MigrateOptions, "directory"> = {}): Promise<(sql: Sql) => Promise<void>> {
  const migrations = await readMigrations(options.directory)
  return async (sql) => {
    const [tables] = await sql<[{ ours: boolean; tasks: boolean }]>`
      select to_regclass('schema_migrations') is not null as ours, to_regclass(${`${TASK_SCHEMA}.version`}) is not null as tasks`
    const missing = tables.ours ? findMissing(migrations, await appliedChecksums(sql)) : migrations
    if (missing.length > 0 || !tables.tasks) {
      throw new GalleyError("schema_too_old", "the database is older than this server; run the migrate command first", {
        details: { missing: missing.map(({ name }) => name).join(" ") },
      })
    }
  }
}

function connect(url: string): Sql {
  return postgres(url, { max: 1, connect_timeout: 5, onnotice: () => {}, connection: { application_name: "galley-migrate" } })
}

async function readMigrations(directory = fileURLToPath(new URL("../../../migrations", import.meta.url))): Promise<Migration[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith(".sql")).sort()
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(directory, name), "utf8")
      return { name, text, checksum: createHash("sha256").update(text).digest("hex") }
    }),
  )
}

async function appliedChecksums(sql: Sql): Promise<Map<string, string>> {
  const rows = await sql<{ name: string; checksum: string }[]>`select name, checksum from schema_migrations`
  return new Map(rows.map((row) => [row.name, row.checksum]))
}

function findMissing(migrations: Migration[], applied: Map<string, string>): Migration[] {
  const changed = migrations.find(({ name, checksum }) => applied.has(name) && applied.get(name) !== checksum)
  if (changed) throw new GalleyError("config_invalid", `migration ${changed.name} was changed after it had been applied`)
  return migrations.filter(({ name }) => !applied.has(name))
}

async function apply(sql: Sql, { name, text, checksum }: Migration): Promise<void> {
  await sql.begin(async (tx) => {
    await tx.unsafe(text)
    await tx`insert into schema_migrations (name, checksum) values (${name}, ${checksum})`
  })
}

async function migrateTasks(url: string): Promise<void> {
  const boss = createTaskRunner(url, { migrate: true, applicationName: "galley-migrate" })
  const failed = new Promise<never>((_, reject) => boss.once("error", reject))
  try {
    await Promise.race([boss.start().then(() => createTaskQueues(boss)), failed])
  } finally {
    await boss.stop({ graceful: false })
  }
}
