import type { TransactionSql } from "postgres"
import type { Store } from "./database.ts"
import { sendTask, sendTasks, type TaskData, type TaskOptions, type TaskQueue } from "./tasks.ts"

/** One transaction with what belongs to it: tasks are stored with it, hints are sent after its commit. */
export interface Transaction {
  readonly sql: TransactionSql
  /** Asks for a wake-up of waiting runners, `delayMs` after the commit. */
  wakeJobs(delayMs: number): void
  /** Tells open pages that a run changed. */
  wakeRuns(workspaceId: string, runId: string): void
  sendTask(queue: TaskQueue, data: TaskData, options?: TaskOptions): Promise<void>
  /** Several of one queue in one statement. */
  sendTasks(queue: TaskQueue, data: readonly TaskData[]): Promise<void>
}

/** Runs `work` in one transaction; hints go out only when it committed. */
export async function inTransaction<T>(store: Store, work: (tx: Transaction) => Promise<T>): Promise<T> {
  const hints: (() => void)[] = []
  const result = await store.sql.begin(async (sql) => {
    const value = await work({
      sql,
      wakeJobs: (delayMs) => hints.push(() => wakeJobs(store, delayMs)),
      wakeRuns: (workspaceId, runId) => hints.push(() => wakeRuns(store, workspaceId, runId)),
      sendTask: async (queue, data, options) => {
        await sendTask(store.boss, sql, queue, data, options)
        hints.push(() => store.onTask(queue))
      },
      sendTasks: async (queue, data) => {
        if (data.length === 0) return
        await sendTasks(store.boss, sql, queue, data)
        hints.push(() => store.onTask(queue))
      },
    })
    return { value }
  })
  for (const hint of hints) hint()
  return result.value
}

/** Wakes waiting runners in `delayMs`, rounded up to seconds so that a burst becomes one hint. */
export function wakeJobs(store: Store, delayMs: number): void {
  store.jobs.notify(String(delayMs <= 0 ? 0 : Math.ceil(delayMs / 1000) * 1000))
}

/** Tells open pages that a run changed. */
export function wakeRuns(store: Store, workspaceId: string, runId: string): void {
  store.runs.notify(`${workspaceId}:${runId}`)
}
