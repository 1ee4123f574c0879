import type { Store } from "../database.ts"
import { type PullRequestOverview, selectPullRequests } from "./pull-request-overview.ts"

/** Open pull requests of a project, newest first, at most 200. Empty for a project of another workspace. */
export async function listPullRequests({ sql }: Store, workspaceId: string, projectId: string): Promise<PullRequestOverview[]> {
  return selectPullRequests(sql, sql`q.workspace_id = ${workspaceId} and q.project_id = ${projectId} and q.open`)
}
