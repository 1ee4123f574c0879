import type { Capability } from "@galley/contract/protocol"
import type { Store } from "../database.ts"
import { lastSeenAt } from "./last-seen-at.ts"
import { oldTokenUntil } from "./old-token-until.ts"

/** A runner as the pages of a workspace show it. */
export interface RunnerSummary {
  id: string
  /** null = works for every workspace */
  workspaceId: string | null
  name: string
  reportedName: string | null
  version: string | null
  capabilities: Capability[]
  paused: boolean
  pausedNote: string
  pausedBy: string | null
  pausedAt: Date | null
  createdAt: Date
  /** null unless its old token still works */
  oldTokenUntil: Date | null
  previousTokenUsedAt: Date | null
  /** Last poll, or last sign of a lease; null before the first poll */
  lastSeenAt: Date | null
  /** Leases of this workspace that it holds now. */
  running: number
}

/** Runners of a workspace and those that work for all, by name. */
export async function listRunners({ sql }: Store, workspaceId: string): Promise<RunnerSummary[]> {
  return [
    ...(await sql<RunnerSummary[]>`
      select r.id, r.workspace_id as "workspaceId", r.name, r.reported_name as "reportedName", r.version, r.capabilities,
        r.paused, r.paused_note as "pausedNote", r.paused_by as "pausedBy", r.paused_at as "pausedAt", r.created_at as "createdAt",
        ${oldTokenUntil(sql)} as "oldTokenUntil", r.previous_token_used_at as "previousTokenUsedAt",
        ${lastSeenAt(sql)} as "lastSeenAt",
        (select count(*)::int from review_jobs b join review_runs u on u.id = b.run_id
          where (b.state = 'running') is true and b.workspace_id = ${workspaceId} and u.runner_id = r.id) as running
      from runners r
      where (r.workspace_id = ${workspaceId} or r.workspace_id is null) and r.removed_at is null
      order by r.name`),
  ]
}
