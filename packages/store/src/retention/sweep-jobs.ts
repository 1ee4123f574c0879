import type { Store } from "../database.ts"
import { BATCH_ROWS, inBatches } from "./in-batches.ts"

/**
 * Removes jobs that ended longer ago than `days`, with their runs and results. The newest job of each pull request stays, whatever its
 * age: it says what became of the pull request. Comments and the finding state do not depend on what is removed.
 *
 * @returns how many jobs were removed
 */
export async function sweepJobs({ sql }: Store, days: number, signal: AbortSignal): Promise<number> {
  return inBatches(async () => {
    const swept = await sql`
      delete from review_jobs where id = any(array(
        select j.id from review_jobs j
        where j.finished_at < now() - ${days} * interval '1 day'
          and exists (select from review_jobs n where n.pull_request_id = j.pull_request_id and n.created_at > j.created_at)
        limit ${BATCH_ROWS}))`
    return swept.count
  }, signal)
}
