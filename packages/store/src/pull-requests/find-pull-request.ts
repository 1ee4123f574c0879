import type { Store } from "../database.ts"
import { type PullRequestOverview, selectPullRequests } from "./pull-request-overview.ts"

/** One pull request by its number, open or closed; null when no event made Galley keep it, e.g. while it is a draft. */
export async function findPullRequest(
  { sql }: Store,
  workspaceId: string,
  projectId: string,
  number: number,
): Promise<PullRequestOverview | null> {
  const where = sql`q.workspace_id = ${workspaceId} and q.project_id = ${projectId} and q.number = ${number}`
  const [pullRequest] = await selectPullRequests(sql, where)
  return pullRequest ?? null
}
