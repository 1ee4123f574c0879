import { GalleyError } from "@galley/contract/errors"
import type { Store } from "../database.ts"

/** Forgets a provider and its key. Throws `not_found`. */
export async function deleteModelProvider({ sql }: Store, workspaceId: string, providerId: string): Promise<void> {
  const deleted = await sql`delete from model_providers where id = ${providerId} and workspace_id = ${workspaceId}`
  if (deleted.count === 0) throw new GalleyError("not_found", "no such provider")
}
