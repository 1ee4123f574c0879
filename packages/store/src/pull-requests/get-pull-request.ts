import { GalleyError } from "@galley/contract/errors"
import type { Store } from "../database.ts"
import { type PullRequestOverview, selectPullRequests } from "./pull-request-overview.ts"

/** One pull request by its number, open or closed. Throws `not_found` for one that no event told Galley of, or of another workspace. */
export async function getPullRequest(
  { sql }: Store,
  workspaceId: string,
  projectId: string,
  number: number,
): Promise<PullRequestOverview> {
  const where = sql`q.workspace_id = ${workspaceId} and q.project_id = ${projectId} and q.number = ${number}`
  const [pullRequest] = await selectPullRequests(sql, where)
  if (!pullRequest) throw new GalleyError("not_found", "no such pull request")
  return pullRequest
}
