import { GalleyError } from "@galley/contract/errors"
import type { Store } from "../database.ts"

/** Slug of the workspace a run belongs to. Throws `not_found` for no such run and for a workspace the user is no member of. */
export async function findRunWorkspace({ sql }: Store, userId: string, runId: string): Promise<string> {
  const [workspace] = await sql<[{ slug: string }?]>`
    select w.slug from review_runs r
    join workspaces w on w.id = r.workspace_id
    join memberships m on m.workspace_id = w.id and m.user_id = ${userId}
    where r.id = ${runId}`
  if (!workspace) throw new GalleyError("not_found", "no such run")
  return workspace.slug
}
