import type { Store } from "../database.ts"
import { BATCH_ROWS } from "./in-batches.ts"

/**
 * Removes jobs that ended longer ago than `days`, with their runs and results. The newest job of each pull request stays, whatever its
 * age: it says what became of the pull request. Comments and the finding state do not depend on what is removed.
 *
 * @returns how many jobs were removed
 */
export async function sweepJobs({ sql }: Store, days: number, signal: AbortSignal): Promise<number> {
  let removed = 0
  // Goes through the old jobs once, by when they ended: most of them are the newest of their pull requests and stay, and a batch that removes
  // none must not be read again.
  let after: { endedAt: string | null; id: string | null } = { endedAt: "-infinity", id: "00000000-0000-0000-0000-000000000000" }
  while (!signal.aborted) {
    const [batch] = await sql<[{ looked: number; removed: number; endedAt: string | null; id: string | null }]>`
      with old as (
        select j.id, j.finished_at,
          exists (select from review_jobs n where n.pull_request_id = j.pull_request_id and n.created_at > j.created_at) as has_newer
        from review_jobs j
        where (j.finished_at, j.id) > (${after.endedAt}::text::timestamptz, ${after.id}::uuid)
          and j.finished_at < now() - ${days} * interval '1 day'
        order by j.finished_at, j.id limit ${BATCH_ROWS}
      ), swept as (
        delete from review_jobs where id = any(array(select id from old where has_newer)) returning id
      )
      select count(*)::int as looked, (select count(*) from swept)::int as removed,
        (array_agg(finished_at::text order by finished_at desc, id desc))[1] as "endedAt",
        (array_agg(id order by finished_at desc, id desc))[1] as id
      from old`
    removed += batch.removed
    if (batch.looked < BATCH_ROWS) break
    after = batch
  }
  return removed
}
