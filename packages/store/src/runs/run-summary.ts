import { and, desc, eq, type SQL, sql } from "drizzle-orm"
import type { Store } from "../database.ts"
import { projects, pullRequests, reviewJobs, reviewResults, reviewRuns, runners } from "../schema.ts"

/** A run as a list shows it. */
export interface RunSummary {
  run: typeof reviewRuns.$inferSelect
  job: Pick<typeof reviewJobs.$inferSelect, "state" | "code" | "detail" | "cause" | "requestedBy">
  project: Pick<typeof projects.$inferSelect, "id" | "owner" | "name">
  pullRequest: Pick<typeof pullRequests.$inferSelect, "id" | "number" | "title" | "webUrl" | "commentId">
  runnerName: string | null
  /** Findings that were active after the run; null until it handed a result over. */
  activeFindings: number | null
}

const activeFindings = sql<
  number | null
>`jsonb_array_length(jsonb_path_query_array(${reviewResults.findings}, '$[*] ? (@.state == "active")'))`

/** Newest first. */
export function selectRuns({ db }: Store, limit: number, conditions: (SQL | undefined)[]): Promise<RunSummary[]> {
  return db
    .select({
      run: reviewRuns,
      job: {
        state: reviewJobs.state,
        code: reviewJobs.code,
        detail: reviewJobs.detail,
        cause: reviewJobs.cause,
        requestedBy: reviewJobs.requestedBy,
      },
      project: { id: projects.id, owner: projects.owner, name: projects.name },
      pullRequest: {
        id: pullRequests.id,
        number: pullRequests.number,
        title: pullRequests.title,
        webUrl: pullRequests.webUrl,
        commentId: pullRequests.commentId,
      },
      runnerName: runners.name,
      activeFindings,
    })
    .from(reviewRuns)
    .innerJoin(reviewJobs, eq(reviewJobs.id, reviewRuns.jobId))
    .innerJoin(projects, eq(projects.id, reviewRuns.projectId))
    .innerJoin(pullRequests, eq(pullRequests.id, reviewRuns.pullRequestId))
    .leftJoin(runners, eq(runners.id, reviewRuns.runnerId))
    .leftJoin(reviewResults, eq(reviewResults.runId, reviewRuns.id))
    .where(and(...conditions))
    .orderBy(desc(reviewRuns.startedAt), desc(reviewRuns.id))
    .limit(limit)
}
