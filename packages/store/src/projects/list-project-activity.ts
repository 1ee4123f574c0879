import type { ReviewKind } from "@galley/contract/settings"
import type { Store } from "../database.ts"
import type { JobState } from "../queue/job.ts"
import type { RunOutcome } from "../runs/run.ts"

export interface ProjectActivity {
  projectId: string
  waitingJobs: number
  /** The newest run; null when there was none yet. */
  lastRun: {
    id: string
    kind: ReviewKind
    outcome: RunOutcome
    jobState: JobState
    startedAt: Date
    pullRequestNumber: number
  } | null
}

/** What goes on in each project of a workspace, in no order. */
export async function listProjectActivity({ sql }: Store, workspaceId: string): Promise<ProjectActivity[]> {
  type LastRun = NonNullable<ProjectActivity["lastRun"]>
  const rows = await sql<(Omit<ProjectActivity, "lastRun"> & { lastRun: (Omit<LastRun, "startedAt"> & { startedAt: string }) | null })[]>`
    select p.id as "projectId", last.run as "lastRun",
      (select count(*)::int from review_jobs where project_id = p.id and state = 'waiting') as "waitingJobs"
    from projects p left join lateral (
      select jsonb_build_object('id', r.id, 'kind', r.review_kind, 'outcome', r.outcome, 'jobState', j.state, 'startedAt', r.started_at,
        'pullRequestNumber', q.number) as run
      from review_runs r join review_jobs j on j.id = r.job_id join pull_requests q on q.id = r.pull_request_id
      where r.project_id = p.id order by r.started_at desc limit 1) last on true
    where p.workspace_id = ${workspaceId}`
  return rows.map(({ lastRun, ...row }) => ({
    ...row,
    lastRun: lastRun === null ? null : { ...lastRun, startedAt: new Date(lastRun.startedAt) },
  }))
}
