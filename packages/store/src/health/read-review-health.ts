import type { ReviewKind } from "@galley/contract/settings"
import type { Store } from "../database.ts"
import { isLost } from "../reconciler/missed-deliveries.ts"
import { lastSeenAt, RUNNER_GONE_AFTER_MS } from "../runners/last-seen-at.ts"
import { deadTaskQueue, TASK_SCHEMA } from "../tasks.ts"

/** What the whole server knows of reviews that may be stuck. Times of the database; no tenant, repository or person. */
export interface ReviewHealth {
  /** The database's clock. */
  now: Date
  /** For each kind with a job that is due and whose pull request is not busy. */
  waiting: {
    kind: ReviewKind
    /** When the oldest of them became due. */
    oldestDueAt: Date
    /** The same of jobs for which no live runner offers the kind; null when every one has such a runner. */
    oldestUnofferedDueAt: Date | null
  }[]
  /** Leases that ran out and were not settled. */
  expiredLeases: { count: number; oldestAt: Date | null }
  /** Stored results that were not written to their pull request. */
  publications: { count: number; oldestAt: Date | null }
  /** Deliveries that GitHub lists as failed and nobody took. */
  failedDeliveries: { count: number; oldestAt: Date | null }
  /** Start of the last complete reading of GitHub's list; null before the first. */
  deliveriesReadAt: Date | null
  /** Tasks that were given up in the last 24 hours. */
  deadTasks: number
  /** Jobs that failed at every attempt, ended in the last hour. */
  exhaustedJobs: number
}

/** Counts and oldest times over all workspaces. Names busy jobs with the words of their index, so that it reads no others. */
export async function readReviewHealth({ sql }: Store): Promise<ReviewHealth> {
  const [row] = await sql<[Omit<ReviewHealth, "waiting">]>`
    select clock_timestamp() as now,
      (select max(scanned_until) from delivery_scans) as "deliveriesReadAt",
      (select jsonb_build_object('count', count(*), 'oldestAt', min(lease_expires_at)) from review_jobs
        where (state = 'running') is true and lease_expires_at < clock_timestamp()) as "expiredLeases",
      (select jsonb_build_object('count', count(*), 'oldestAt', min(s.stored_at))
        from review_jobs j join review_results s on s.run_id = j.run_id
        where (j.state in ('running', 'publishing')) is true and j.state = 'publishing') as publications,
      (select jsonb_build_object('count', count(*), 'oldestAt', min(m.delivered_at))
        from missed_deliveries m where ${isLost(sql)}) as "failedDeliveries",
      (select count(*)::integer from ${sql(TASK_SCHEMA)}.job
        where name = ${deadTaskQueue} and created_on > now() - interval '24 hours') as "deadTasks",
      (select count(*)::integer from review_jobs
        where finished_at > now() - interval '1 hour' and code = 'attempts_exhausted') as "exhaustedJobs"`
  const waiting = await sql<ReviewHealth["waiting"]>`
    with offered as (
      select distinct r.workspace_id, c ->> 'kind' as kind
      from runners r cross join jsonb_array_elements(r.capabilities) c
      where not r.paused and r.removed_at is null
        and ${lastSeenAt(sql)} > clock_timestamp() - ${RUNNER_GONE_AFTER_MS} * interval '1 millisecond'
        and (c ->> 'expiresAt')::timestamptz > clock_timestamp()
    ), due as (
      select j.workspace_id, j.review_kind as kind, min(j.run_after) as at from review_jobs j
      where j.state = 'waiting' and j.run_after <= clock_timestamp()
        -- Not as an anti-join: that may read all busy jobs for each waiting one.
        and (
          select b.id from review_jobs b
          where b.pull_request_id = j.pull_request_id and (b.state in ('running', 'publishing')) is true) is null
      group by 1, 2
    )
    select d.kind, min(d.at) as "oldestDueAt", min(d.at) filter (where not exists (
      select from offered o where o.kind = d.kind and (o.workspace_id is null or o.workspace_id = d.workspace_id)))
      as "oldestUnofferedDueAt"
    from due d group by d.kind order by d.kind`
  return {
    ...row,
    expiredLeases: withDate(row.expiredLeases),
    publications: withDate(row.publications),
    failedDeliveries: withDate(row.failedDeliveries),
    waiting: [...waiting],
  }
}

/** JSON carries the time as text. */
function withDate({ count, oldestAt }: { count: number; oldestAt: Date | string | null }) {
  return { count, oldestAt: oldestAt === null ? null : new Date(oldestAt) }
}
