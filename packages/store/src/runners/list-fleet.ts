import type { Capability } from "@galley/contract/protocol"
import type { Store } from "../database.ts"
import { lastSeenAt } from "./last-seen-at.ts"
import { oldTokenUntil } from "./old-token-until.ts"

/** A runner as the operator of the whole server sees it. */
export interface FleetRunner {
  name: string
  /** Slug; null = works for every workspace */
  workspace: string | null
  version: string | null
  capabilities: Capability[]
  lastSeenAt: Date | null
  paused: boolean
  pausedNote: string
  /** null unless its old token still works */
  oldTokenUntil: Date | null
}

/** All runners, shared ones first, then by workspace and name. */
export async function listFleet({ sql }: Store): Promise<FleetRunner[]> {
  return [
    ...(await sql<FleetRunner[]>`
      select r.name, w.slug as workspace, r.version, r.capabilities, ${lastSeenAt(sql)} as "lastSeenAt",
        r.paused, r.paused_note as "pausedNote", ${oldTokenUntil(sql)} as "oldTokenUntil"
      from runners r left join workspaces w on w.id = r.workspace_id
      where r.removed_at is null order by w.slug nulls first, r.name`),
  ]
}
