import { errorCode, GalleyError } from "@galley/contract/errors"
import { expireLeases } from "@galley/store/queue/expire-leases"
import { deadTaskQueue, queueTask, type TaskData, type TaskQueue, taskQueues } from "@galley/store/tasks"
import { z } from "zod"
import type { ServerContext } from "../context.ts"
import { reactToCommand } from "../intake/react-to-command.ts"
import { RefreshTask, refreshPullRequest } from "../intake/refresh-pull-request.ts"
import { CommandTask, resolveCommand } from "../intake/resolve-command.ts"
import { publishComment } from "../publication/publish-comment.ts"
import { endDeadTask, PublishTask } from "./end-dead-task.ts"
import { syncInstallations } from "./sync-installations.ts"

/** The server's internal work while it runs. */
export type TaskWork = Readonly<{
  /** Looks for tasks of a queue now instead of at the next poll; called after a commit that stored one. */
  wake(queue: TaskQueue): void
  /** Ends the sweep of leases; closing the store ends the workers. */
  stop(): void
}>

/** Seconds between looks when nobody calls `wake`, e.g. for a task that another server stored. */
const POLL_SECONDS = 1
const DEAD_POLL_SECONDS = 5
const TASKS_AT_A_TIME = 4
const SWEEP_MS = 5_000

const SyncTask = z.object({})

export async function workTasks(context: ServerContext): Promise<TaskWork> {
  const { boss } = context.store
  const workers = new Map<TaskQueue, string>()

  const handle = async <T extends z.ZodType>(queue: TaskQueue, schema: T, work: (data: z.infer<T>) => Promise<void>) => {
    const options = { pollingIntervalSeconds: POLL_SECONDS, batchSize: 1, localConcurrency: TASKS_AT_A_TIME }
    const worker = await boss.work<TaskData>(queue, options, async ([task]) => {
      if (task === undefined) return
      try {
        await work(schema.parse(task.data))
      } catch (error) {
        if (await deferred(context, queue, task.data, error)) return
        context.log.warn({ queue, code: errorCode(error), err: error }, "task failed; it will be tried again")
        throw error
      }
    })
    workers.set(queue, worker)
  }
  await handle(taskQueues.publishComment, PublishTask, ({ workspaceId, jobId }) => publishComment(context, workspaceId, jobId))
  await handle(taskQueues.resolveCommandHead, CommandTask, (task) => resolveCommand(context, task))
  await handle(taskQueues.reactToCommand, CommandTask, (task) => reactToCommand(context, task))
  await handle(taskQueues.refreshPullRequest, RefreshTask, (task) => refreshPullRequest(context, task))
  await handle(taskQueues.syncInstallation, SyncTask, () => syncInstallations(context))
  await boss.work(deadTaskQueue, { pollingIntervalSeconds: DEAD_POLL_SECONDS, includeMetadata: true }, async ([task]) => {
    if (task !== undefined) await endDeadTask(context, { queue: task.sourceName, data: task.data, fault: task.sourceOutput })
  })

  const sweep = setInterval(() => {
    expireLeases(context.store).catch((error: unknown) => {
      context.log.error({ err: error }, "leases that ran out could not be ended")
    })
  }, SWEEP_MS)

  return {
    wake(queue) {
      const worker = workers.get(queue)
      if (worker !== undefined) boss.notifyWorker(worker)
    },
    stop: () => clearInterval(sweep),
  }
}

/** A rate limit says when to come back: the task is put off for exactly so long, and no attempt is counted against it. */
async function deferred(context: ServerContext, queue: TaskQueue, data: TaskData, error: unknown): Promise<boolean> {
  if (!(error instanceof GalleyError) || error.code !== "github_rate_limited") return false
  const seconds = Number(error.details.retryAfterSeconds ?? 60)
  await queueTask(context.store, queue, data, seconds)
  context.log.info({ queue, seconds }, "task put off by a rate limit")
  return true
}
