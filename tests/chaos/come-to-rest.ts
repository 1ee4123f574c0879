import { setTimeout as delay } from "node:timers/promises"
import { createTaskRunner, scheduledQueues, taskQueues } from "@galley/store/tasks"
import type { Sql } from "postgres"
import type { ChaosRig } from "./chaos-rig.ts"
import { endLeases, letReconcilerRunAgain, letTasksComeDue } from "./let-time-pass.ts"

const LOOK_MS = 200
const reconcilers = [scheduledQueues.reconcileDeliveries, scheduledQueues.reconcileHeads]

/**
 * Ends the faults, brings every process back and lets the reconciler run until it has looked at everything and found nothing to do.
 *
 * @returns what had not come to rest after `withinMs`, and processes that ended by themselves; empty when all is well
 */
export async function comeToRest(rig: ChaosRig, withinMs: number): Promise<string[]> {
  const unfinished = await rest(rig, withinMs)
  const ownEnds = [...rig.servers, ...rig.runners].flatMap((kept) => kept.ownEnds())
  return [...unfinished, ...ownEnds.map((how) => `a process ended by itself with ${how}`)]
}

async function rest({ intake, github, servers, runners }: ChaosRig, withinMs: number): Promise<string[]> {
  const { sql, databaseUrl } = intake
  const deadline = performance.now() + withinMs
  github.clearFaults()
  await Promise.all([...servers, ...runners].map((kept) => kept.up()))
  const clock = createTaskRunner(databaseUrl, { migrate: false, applicationName: "chaos" })
  await clock.start()
  try {
    for (;;) {
      const before = await countRows(sql)
      const since = await letReconcilerRunAgain(sql)
      let unfinished: string[]
      do {
        // Left out by itself while a run waits or works.
        for (const queue of reconcilers) await clock.send(queue, {})
        await delay(LOOK_MS)
        await letTasksComeDue(sql)
        await endLeases(sql)
        await github.idle()
        unfinished = [...(await listWork(sql)), ...(await listUnread(sql, since))]
        if (performance.now() > deadline) return unfinished
      } while (unfinished.length > 0)
      if ((await countRows(sql)) === before) return []
    }
  } finally {
    await clock.stop({ graceful: false })
  }
}

/** Another text as soon as a job or a delivery was added. */
async function countRows(sql: Sql): Promise<string> {
  const [counted] = await sql`
    select (select count(*) from review_jobs) as jobs, (select count(*) from webhook_deliveries) as deliveries`
  return JSON.stringify(counted)
}

async function listWork(sql: Sql): Promise<string[]> {
  const rows = await sql<{ what: string; state: string; n: number }[]>`
    select 'jobs' as what, state, count(*)::int as n from review_jobs where state in ('waiting', 'running', 'publishing') group by 2
    union all
    select name, state::text, count(*)::int from pgboss.job
    where name = any(${Object.values(taskQueues)}) and state in ('created', 'retry', 'active')
    group by 1, 2`
  return rows.map(({ what, state, n }) => `${what}: ${n} ${state}`)
}

/** What the reconciler has not read since. */
async function listUnread(sql: Sql, since: Date): Promise<string[]> {
  const [read] = await sql<[{ deliveries: boolean; heads: boolean }]>`
    select exists (select from delivery_scans where cursor is null and scanned_until >= ${since}) as deliveries,
      (select count(*) from project_scans where page = 1 and ended_at >= ${since}) = (select count(*) from projects) as heads`
  return [...(read.deliveries ? [] : ["GitHub's list of deliveries was not read"]), ...(read.heads ? [] : ["open heads were not compared"])]
}
