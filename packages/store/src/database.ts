import { createSecretKey, type KeyObject } from "node:crypto"
import { drizzle, type PostgresJsDatabase } from "drizzle-orm/postgres-js"
import type { PgBoss } from "pg-boss"
import postgres, { type Sql, type TransactionSql } from "postgres"
import * as schema from "./schema.ts"
import { deriveKey, type KeyRing } from "./seal.ts"
import { createTaskRunner, type TaskQueue } from "./tasks.ts"
import { createNotifier, JOB_CHANNEL, type Notifier, RUN_CHANNEL } from "./wake.ts"

/** A pooled client or one transaction of it: what a reading verb needs. */
export type Query = Sql | TransactionSql

export interface StoreOptions {
  url: string
  keyRing: KeyRing
  applicationName?: string
  /** Connections of the hot paths (intake, claims, heartbeats). */
  maxConnections?: number
  /** Milliseconds after which any statement of the hot paths is given up by the server. */
  statementTimeoutMs?: number
  /** Faults that no caller waits for: lost hints, task supervision. */
  onError: (error: unknown) => void
  /** Called after the commit that stored a task, so that a worker of this process need not wait for its poll. */
  onTask?: (queue: TaskQueue) => void
}

/** Everything that verbs need. Opened once per process. */
export interface Store {
  /** Raw client of the hot paths. */
  readonly sql: Sql
  /** Drizzle on a client of its own: drizzle changes the parsers of the client it wraps. */
  readonly db: PostgresJsDatabase<typeof schema>
  readonly boss: PgBoss
  readonly keyRing: KeyRing
  /** Key of 32 bytes from which lease tokens are derived. */
  readonly leaseKey: KeyObject
  readonly jobs: Notifier
  readonly runs: Notifier
  readonly onTask: (queue: TaskQueue) => void
  close(): Promise<void>
}

/**
 * Opens pools and starts pg-boss (for sending and, when the caller registers workers, for working). The schema must be migrated:
 * call `assertSchema` first.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const applicationName = options.applicationName ?? "galley"
  const connection = { application_name: applicationName, statement_timeout: options.statementTimeoutMs ?? 10_000 }
  const sql = connect(options.url, { max: options.maxConnections ?? 10, connection })
  const pages = postgres(options.url, { max: 4, onnotice: () => {}, connection: { application_name: `${applicationName}-pages` } })
  const boss = createTaskRunner(options.url, { migrate: false, applicationName: `${applicationName}-tasks` })
  boss.on("error", options.onError)
  const jobs = createNotifier(sql, JOB_CHANNEL, options.onError)
  const runs = createNotifier(sql, RUN_CHANNEL, options.onError)

  const close = async () => {
    await boss.stop({ graceful: true, timeout: 5_000 })
    await Promise.all([jobs.idle(), runs.idle()])
    await Promise.all([sql.end({ timeout: 5 }), pages.end({ timeout: 5 })])
  }
  try {
    await boss.start()
  } catch (error) {
    await close()
    throw error
  }
  return {
    sql,
    db: drizzle(pages, { schema }),
    boss,
    keyRing: options.keyRing,
    leaseKey: createSecretKey(deriveKey(options.keyRing, "lease token")),
    jobs,
    runs,
    onTask: options.onTask ?? (() => {}),
    close,
  }
}

function connect(url: string, options: postgres.Options<Record<string, never>>): Sql {
  // GitHub's ids and our fences stay far below 2^53, so they are plain numbers here as in JSON.
  const int8 = { to: 20, from: [20], parse: Number, serialize: String }
  return postgres(url, { ...options, connect_timeout: 5, onnotice: () => {}, types: { int8 } }) as Sql
}
