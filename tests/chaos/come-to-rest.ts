import { setTimeout as delay } from "node:timers/promises"
import { createTaskRunner, deadTaskQueue, scheduledQueues, taskQueues } from "@galley/store/tasks"
import type { Sql } from "postgres"
import type { ChaosRig } from "./chaos-rig.ts"
import { endLeases, letReconcilerRunAgain, letTasksComeDue } from "./let-time-pass.ts"

type TaskRunner = ReturnType<typeof createTaskRunner>

const LOOK_MS = 200
const reconcilers = [scheduledQueues.reconcileDeliveries, scheduledQueues.reconcileHeads]

/** From here on GitHub answers as it should, and every process is up. */
export async function endFaults({ github, servers, runners }: ChaosRig): Promise<void> {
  github.clearFaults()
  await Promise.all([...servers, ...runners].map((kept) => kept.up()))
}

/** Lets jobs and tasks come to their end, without waiting for what they put off. @returns what is left when `signal` aborts */
export async function endWork({ intake, github }: ChaosRig, signal: AbortSignal): Promise<string[]> {
  const { sql } = intake
  for (;;) {
    await letTasksComeDue(sql)
    await endLeases(sql)
    await github.idle()
    const work = await listWork(sql)
    if (work.length === 0 || signal.aborted) return work
    await delay(LOOK_MS)
  }
}

/**
 * Lets the reconciler run until it has looked at everything and found nothing to do.
 *
 * @returns what had not come to rest when `signal` aborted, and processes that ended by themselves; empty when all is well
 */
export async function comeToRest(rig: ChaosRig, signal: AbortSignal): Promise<string[]> {
  const clock = createTaskRunner(rig.intake.databaseUrl, { migrate: false, applicationName: "chaos" })
  await clock.start()
  try {
    const unfinished = await reconcile(rig, clock, signal)
    const ownEnds = [...rig.servers, ...rig.runners].flatMap((kept) => kept.ownEnds())
    const leftovers = await listLeftovers(rig.intake.sql)
    return [...unfinished, ...leftovers, ...ownEnds.map((how) => `a process ended by itself with ${how}`)]
  } finally {
    await clock.stop({ graceful: false })
  }
}

async function reconcile(rig: ChaosRig, clock: TaskRunner, signal: AbortSignal): Promise<string[]> {
  const { sql } = rig.intake
  for (;;) {
    const before = await countRows(sql)
    const since = await letReconcilerRunAgain(sql)
    for (;;) {
      const unread = await listUnread(sql, since)
      // Left out by itself while a run waits or works.
      if (unread.length > 0) for (const queue of reconcilers) await clock.send(queue, {})
      // A run that has read GitHub's list has still to ask for what is missing there.
      const unfinished = [...unread, ...(await listTasks(sql, reconcilers))]
      if (unfinished.length === 0) unfinished.push(...(await endWork(rig, signal)))
      if (signal.aborted) return unfinished
      if (unfinished.length === 0) break
      await delay(LOOK_MS)
    }
    if ((await countRows(sql)) === before) return []
  }
}

/** Another text as soon as a job or a delivery was added. */
async function countRows(sql: Sql): Promise<string> {
  const [counted] = await sql`
    select (select count(*) from review_jobs) as jobs, (select count(*) from webhook_deliveries) as deliveries`
  return JSON.stringify(counted)
}

async function listWork(sql: Sql): Promise<string[]> {
  const jobs = await sql<{ state: string; n: number }[]>`
    select state, count(*)::int as n from review_jobs where state in ('waiting', 'running', 'publishing') group by 1`
  return [...jobs.map(({ state, n }) => `jobs: ${n} ${state}`), ...(await listTasks(sql, Object.values(taskQueues)))]
}

/** What came to an end that is none. */
async function listLeftovers(sql: Sql): Promise<string[]> {
  const [left] = await sql<[{ dead: number; undecided: number }]>`
    select (select count(*)::int from pgboss.job where name = ${deadTaskQueue}) as dead,
      (select count(*)::int from webhook_deliveries where outcome = 'received' or (outcome = 'accepted' and reason = 'command')) as undecided`
  return [
    ...(left.dead > 0 ? [`${left.dead} tasks were given up`] : []),
    ...(left.undecided > 0 ? [`${left.undecided} deliveries were never decided`] : []),
  ]
}

async function listTasks(sql: Sql, queues: readonly string[]): Promise<string[]> {
  const tasks = await sql<{ name: string; state: string; n: number }[]>`
    select name, state::text, count(*)::int as n from pgboss.job
    where name = any(${[...queues]}) and state in ('created', 'retry', 'active')
    group by 1, 2`
  return tasks.map(({ name, state, n }) => `${name}: ${n} ${state}`)
}

/** What the reconciler has not read since. */
async function listUnread(sql: Sql, since: Date): Promise<string[]> {
  const [read] = await sql<[{ deliveries: boolean; heads: boolean }]>`
    select exists (select from delivery_scans where cursor is null and scanned_until >= ${since}) as deliveries,
      (select count(*) from project_scans where page = 1 and ended_at >= ${since}) = (select count(*) from projects) as heads`
  return [...(read.deliveries ? [] : ["GitHub's list of deliveries was not read"]), ...(read.heads ? [] : ["open heads were not compared"])]
}
