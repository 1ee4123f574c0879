import { scheduledQueues, taskQueues } from "@galley/store/tasks"
import type { Sql } from "postgres"

/** A lease this long without a heartbeat is taken as run out: the work of these runners takes a fraction of it. */
const SILENT_SECONDS = 3
const LEASE_SECONDS = 60
/** A run of the reconciler takes less. */
const SCHEDULED_RUN_SECONDS = 8

/**
 * Retries of jobs and tasks, and what a rate limit put off, come due at once. A look at a pull request at GitHub still waits for the end of a
 * second, as it has to.
 */
export async function letTasksComeDue(sql: Sql): Promise<void> {
  await sql`update review_jobs set run_after = clock_timestamp() where state = 'waiting' and run_after > clock_timestamp()`
  await sql`
    update pgboss.job set start_after = now()
    where name = any(${Object.values(taskQueues)}) and start_after > now()
      and (state = 'retry' or (state = 'created' and name <> ${taskQueues.refreshPullRequest}))`
}

/**
 * The leases of runners that fell silent end before their 60 s. A third attempt is never taken: a job that loses three fails, as it should, and
 * would count as missing.
 */
export async function endLeases(sql: Sql): Promise<void> {
  await sql`
    update review_jobs set lease_expires_at = clock_timestamp()
    where state = 'running' and failures < 2
      and lease_expires_at < clock_timestamp() + ${LEASE_SECONDS - SILENT_SECONDS} * interval '1 second'`
}

/**
 * What the reconciler rests between its runs is over, and runs that died with their server are given up.
 *
 * @returns the database's time
 */
export async function letReconcilerRunAgain(sql: Sql): Promise<Date> {
  await sql`update project_scans set ended_at = ended_at - interval '1 day'`
  await sql`update missed_deliveries set requested_at = requested_at - interval '1 day'`
  await sql`
    update pgboss.job set started_on = started_on - interval '1 hour'
    where name = any(${Object.values(scheduledQueues)}) and state = 'active'
      and started_on < now() - ${SCHEDULED_RUN_SECONDS} * interval '1 second'`
  const [{ now }] = await sql<[{ now: Date }]>`select clock_timestamp() as now`
  return now
}
