import { uuidv7 } from "uuidv7"
import type { Transaction } from "../transaction.ts"

/** A pull request as an event describes it. Title and description are untrusted text. */
export interface PullRequestSnapshot {
  number: number
  title: string
  description: string
  author: string
  baseRef: string
  baseSha: string
  headRef: string
  headSha: string
  webUrl: string
  draft: boolean
  open: boolean
  /** GitHub's `updated_at`. */
  updatedAt: Date
}

export interface StoredPullRequest {
  id: string
  headSha: string
  baseSha: string
  draft: boolean
  open: boolean
  lastReviewedSha: string | null
  /** GitHub's `updated_at` of what is stored. */
  updatedAt: Date
  /**
   * What became of the snapshot: it is what is stored, the database knew something newer, or it knew another state of the same second. In the
   * latter two cases it changed nothing.
   */
  snapshot: "stored" | "overtaken" | "tied"
}

/**
 * Records what is said of a pull request, unless something newer is known (deliveries come in any order), and locks the row until commit.
 *
 * @param settles the snapshot was read from GitHub when its second was over: it is the last state of that second
 */
export async function upsertPullRequest(
  { sql }: Transaction,
  project: { id: string; workspaceId: string },
  snapshot: PullRequestSnapshot,
  settles = false,
): Promise<StoredPullRequest> {
  const row = pullRequestRow(project, snapshot)
  const [said] = await sql<[{ isStored: boolean }]>`select record_pull_requests(${sql.json([row])}, ${settles}) = 1 as "isStored"`
  const [stored] = await sql<[StoredPullRequest]>`
    select id, head_sha as "headSha", base_sha as "baseSha", draft, open, last_reviewed_sha as "lastReviewedSha",
      updated_at as "updatedAt",
      case when ${said.isStored} then 'stored' when updated_at = ${row.updated_at} then 'tied' else 'overtaken' end as snapshot
    from pull_requests where project_id = ${project.id} and number = ${snapshot.number}`
  return stored
}

/** A new row of the table, by column. */
export function pullRequestRow(project: { id: string; workspaceId: string }, snapshot: PullRequestSnapshot) {
  return {
    id: uuidv7(),
    workspace_id: project.workspaceId,
    project_id: project.id,
    number: snapshot.number,
    title: snapshot.title,
    description: snapshot.description,
    author: snapshot.author,
    base_ref: snapshot.baseRef,
    base_sha: snapshot.baseSha,
    head_ref: snapshot.headRef,
    head_sha: snapshot.headSha,
    web_url: snapshot.webUrl,
    draft: snapshot.draft,
    open: snapshot.open,
    updated_at: snapshot.updatedAt.toISOString(),
  }
}
