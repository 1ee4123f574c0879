import { GalleyError } from "@galley/contract/errors"
import type { Store } from "../database.ts"

/** Id of a runner by its name in a workspace (null: among the shared ones). Throws `not_found`. */
export async function findRunnerId({ sql }: Store, workspaceId: string | null, name: string): Promise<string> {
  const [runner] = await sql<[{ id: string }?]>`
    select id from runners where name = ${name} and workspace_id is not distinct from ${workspaceId} and removed_at is null`
  if (!runner) throw new GalleyError("not_found", `there is no runner ${name}`)
  return runner.id
}
