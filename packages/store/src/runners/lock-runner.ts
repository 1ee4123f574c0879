import { GalleyError } from "@galley/contract/errors"
import type { Query } from "../database.ts"
import { oldTokenUntil } from "./old-token-until.ts"

/** Which runner is changed, and by whom. */
export interface RunnerChange {
  /** null: one that works for every workspace */
  workspaceId: string | null
  runnerId: string
  /** As in the audit log. */
  actor: string
}

export interface LockedRunner {
  name: string
  /** The token before the last rotation still works. */
  overlaps: boolean
}

/** Holds a runner for a change, so that two changes come one after the other. Throws `not_found`. */
export async function lockRunner(sql: Query, { workspaceId, runnerId }: RunnerChange): Promise<LockedRunner> {
  const [runner] = await sql<[LockedRunner?]>`
    select name, ${oldTokenUntil(sql)} is not null as overlaps from runners r
    where id = ${runnerId} and workspace_id is not distinct from ${workspaceId} and removed_at is null
    for no key update`
  if (!runner) throw new GalleyError("not_found", "no such runner")
  return runner
}
