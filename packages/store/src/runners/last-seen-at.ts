import type { PendingQuery, Row } from "postgres"
import type { Query } from "../database.ts"

/** A runner polls every 25 s at the slowest; after three misses it counts as gone. */
export const RUNNER_GONE_AFTER_MS = 90_000

/** When the runner `r` was heard of last, or null: it polled, took a lease or renewed one. One whose slots are all busy polls no more. */
export const lastSeenAt = (sql: Query): PendingQuery<Row[]> => sql`
  greatest(r.last_seen_at, (
    select max(coalesce(u.heartbeat_at, u.started_at)) from review_jobs b join review_runs u on u.id = b.run_id
    where (b.state = 'running') is true and u.runner_id = r.id))`
