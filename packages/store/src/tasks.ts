import { PgBoss, type SendOptions } from "pg-boss"
import type { TransactionSql } from "postgres"

/** Queues of the server's internal work. Runners never touch them. */
export const taskQueues = {
  publishComment: "publish-comment",
  reactToCommand: "react-to-command",
  refreshPullRequest: "refresh-pull-request",
  resolveCommandHead: "resolve-command-head",
  syncInstallation: "sync-installation",
} as const
export type TaskQueue = (typeof taskQueues)[keyof typeof taskQueues]

/** Queues of work that the clock starts. A run that fails is not tried again: the next one goes on where it stopped. */
export const scheduledQueues = {
  reconcileDeliveries: "reconcile-deliveries",
  reconcileHeads: "reconcile-heads",
  reconcileInstallations: "reconcile-installations",
  rollUpUsage: "roll-up-usage",
  sweep: "sweep",
} as const
export type ScheduledQueue = (typeof scheduledQueues)[keyof typeof scheduledQueues]

/** Tasks that failed for good: what each left behind is ended from here. They are kept for operators. */
export const deadTaskQueue = "dead-tasks"
export const TASK_SCHEMA = "pgboss"
/** How often lost tasks are looked for. */
const SUPERVISE_SECONDS = 5

/** What a task carries: small JSON with ids, never a secret. */
export type TaskData = Readonly<Record<string, string | number | boolean | null | undefined>>
export type TaskOptions = Pick<SendOptions, "startAfter" | "retryLimit" | "retryDelay" | "priority">

/** Retries with growing delay for about a day (GitHub may be down for long), then the dead queue. */
const queueOptions = {
  retryLimit: 30,
  retryDelay: 2,
  retryBackoff: true,
  retryDelayMax: 3_600,
  expireInSeconds: 120,
  // A server that was killed must not hold a pull request's publication until the task expires.
  heartbeatSeconds: 10,
  deadLetter: deadTaskQueue,
}

/** Queues in which waiting tasks with equal data are one; one under way does not count, for it may have looked too early. */
const coalescedQueues: ReadonlySet<TaskQueue> = new Set([taskQueues.refreshPullRequest])
/** Such a queue holds one waiting task for each key, and one for all tasks without a key: each of them needs its own. */
const coalescing = (queue: TaskQueue, data: TaskData) => (coalescedQueues.has(queue) ? { singletonKey: JSON.stringify(data) } : {})

const scheduledQueueOptions = { retryLimit: 0, expireInSeconds: 120, deleteAfterSeconds: 3_600 }

/** A pg-boss with its own small pool; a long task must not hold a connection of the hot paths. */
export function createTaskRunner(url: string, options: { migrate: boolean; applicationName: string }): PgBoss {
  return new PgBoss({
    connectionString: url,
    schema: TASK_SCHEMA,
    max: 3,
    application_name: options.applicationName,
    migrate: options.migrate,
    superviseIntervalSeconds: SUPERVISE_SECONDS,
    monitorIntervalSeconds: SUPERVISE_SECONDS,
  })
}

/** Creates missing queues and brings the options of the others up to date. Without `notify`: inside an intake transaction a NOTIFY would serialise all commits. */
export async function createTaskQueues(boss: PgBoss): Promise<void> {
  const existing = new Set((await boss.getQueues()).map((queue) => queue.name))
  if (!existing.has(deadTaskQueue)) await boss.createQueue(deadTaskQueue)
  for (const name of Object.values(taskQueues)) {
    if (existing.has(name)) await boss.updateQueue(name, queueOptions)
    else await boss.createQueue(name, { ...queueOptions, policy: coalescedQueues.has(name) ? "short" : "standard" })
  }
  for (const name of Object.values(scheduledQueues)) {
    if (existing.has(name)) await boss.updateQueue(name, scheduledQueueOptions)
    // One run at a time over all servers: a start that comes while one waits or works is left out.
    else await boss.createQueue(name, { ...scheduledQueueOptions, policy: "exclusive" })
  }
}

/** Stores a task in the caller's transaction: it exists if and only if the transaction commits. */
export async function sendTask(
  boss: PgBoss,
  sql: TransactionSql,
  queue: TaskQueue,
  data: TaskData,
  options: TaskOptions = {},
): Promise<void> {
  await boss.send(queue, data, { ...options, ...coalescing(queue, data), db: within(sql) })
}

/** Stores several tasks in one statement of the caller's transaction. */
export async function sendTasks(boss: PgBoss, sql: TransactionSql, queue: TaskQueue, data: readonly TaskData[]): Promise<void> {
  await boss.insert(
    queue,
    data.map((one) => ({ data: one, ...coalescing(queue, one) })),
    { db: within(sql) },
  )
}

/** The transaction in the words of pg-boss. Its statements are few and long, so they are prepared. */
function within(sql: TransactionSql) {
  return {
    executeSql: async (text: string, values?: unknown[]) => ({
      rows: await sql.unsafe(text, values as Parameters<TransactionSql["unsafe"]>[1], { prepare: true }),
    }),
  }
}

/** Stores a task outside any transaction, to run in `delaySeconds` at the earliest: what nothing else has to commit with. */
export async function queueTask({ boss }: { boss: PgBoss }, queue: TaskQueue, data: TaskData, delaySeconds = 0): Promise<void> {
  await boss.send(queue, data, { startAfter: delaySeconds, ...coalescing(queue, data) })
}
