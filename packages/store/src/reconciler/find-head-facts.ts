import type { Query } from "../database.ts"

/** What became of one head of a pull request here. */
export interface HeadFacts {
  number: number
  /** Its review was published. */
  reviewed: boolean
  /**
   * It has a job that waits, is busy or ended by itself, or that a person cancelled. Jobs that an outside reason cancelled (a suspended
   * installation, a deactivated project ...) do not count: that reason may be over.
   */
  handled: boolean
  /** The pull request had some job before. */
  underReview: boolean
}

/** Facts of the heads, by pull request number. */
export async function findHeadFacts(
  sql: Query,
  projectId: string,
  heads: readonly { number: number; headSha: string }[],
): Promise<Map<number, HeadFacts>> {
  const rows = await sql<HeadFacts[]>`
    select h.number, q.last_reviewed_sha is not distinct from h."headSha" as reviewed,
      exists (
        select from review_jobs j where j.pull_request_id = q.id and j.head_sha = h."headSha"
          and (j.state not in ('cancelled', 'superseded') or j.code = 'cancelled_by_user')) as handled,
      exists (select from review_jobs j where j.pull_request_id = q.id) as "underReview"
    from jsonb_to_recordset(${sql.json(heads.map(({ number, headSha }) => ({ number, headSha })))}) as h (number integer, "headSha" text)
    left join pull_requests q on q.project_id = ${projectId} and q.number = h.number`
  return new Map(rows.map((row) => [row.number, row]))
}
