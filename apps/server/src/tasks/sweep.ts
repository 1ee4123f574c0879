import { sweepDeliveries } from "@galley/store/retention/sweep-deliveries"
import { sweepJobs } from "@galley/store/retention/sweep-jobs"
import { sweepSessions } from "@galley/store/sessions/sweep-sessions"
import { deadTaskQueue } from "@galley/store/tasks"
import type { ServerContext } from "../context.ts"

const SECONDS_A_DAY = 86_400

/** Removes what was kept long enough, in small batches. Where `signal` stops it, the next run goes on. */
export async function sweep({ store, config, log }: ServerContext, signal: AbortSignal): Promise<void> {
  const { deliveryDays, runDays, deadTaskDays } = config.retention
  // pg-boss removes them; a new setting holds for tasks that die from now on.
  await store.boss.updateQueue(deadTaskQueue, { deleteAfterSeconds: deadTaskDays * SECONDS_A_DAY })
  const sessions = await sweepSessions(store)
  const deliveries = await sweepDeliveries(store, deliveryDays, signal)
  const jobs = await sweepJobs(store, runDays, signal)
  log.info({ sessions, deliveries, jobs }, "old rows removed")
}
