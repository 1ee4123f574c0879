import { errorCode } from "@galley/contract/errors"
import { type ScheduledQueue, scheduledQueues } from "@galley/store/tasks"
import { rollUpUsage } from "@galley/store/usage/roll-up-usage"
import type { ServerContext } from "../context.ts"
import { reconcileDeliveries } from "../reconciler/reconcile-deliveries.ts"
import { reconcileHeads } from "../reconciler/reconcile-heads.ts"
import { sweep } from "./sweep.ts"
import { reconcileInstallations } from "./sync-installations.ts"

/** Below the time after which pg-boss gives a run up, so that no two of a kind overlap. */
const RUN_MS = 60_000
const POLL_SECONDS = 5

type Schedule = Readonly<{ queue: ScheduledQueue; cron: string; run: (context: ServerContext, signal: AbortSignal) => Promise<unknown> }>

const schedules: readonly Schedule[] = [
  { queue: scheduledQueues.reconcileDeliveries, cron: "* * * * *", run: (context, signal) => reconcileDeliveries(context, signal) },
  { queue: scheduledQueues.reconcileHeads, cron: "*/5 * * * *", run: (context, signal) => reconcileHeads(context, signal) },
  { queue: scheduledQueues.reconcileInstallations, cron: "17 * * * *", run: reconcileInstallations },
  { queue: scheduledQueues.rollUpUsage, cron: "7 * * * *", run: ({ store }) => rollUpUsage(store) },
  { queue: scheduledQueues.sweep, cron: "37 * * * *", run: sweep },
]

/** Does the work that the clock starts, on one server at a time, until `stop`. */
export async function workSchedules(context: ServerContext): Promise<{ stop(): void }> {
  const { boss } = context.store
  const stopping = new AbortController()
  for (const { queue, cron, run } of schedules) {
    await boss.work(queue, { pollingIntervalSeconds: POLL_SECONDS, batchSize: 1 }, async ([task]) => {
      if (task === undefined) return
      const signal = AbortSignal.any([stopping.signal, task.signal, AbortSignal.timeout(RUN_MS)])
      try {
        await run(context, signal)
      } catch (error) {
        context.log.warn({ queue, code: errorCode(error), err: error }, "scheduled run stopped; the next one goes on")
        throw error
      }
    })
    await boss.schedule(queue, cron)
  }
  return { stop: () => stopping.abort() }
}
