import { GalleyError } from "@galley/contract/errors"
import { and, eq } from "drizzle-orm"
import type { Store } from "../database.ts"
import { memberships, workspaces } from "../schema.ts"
import { type WorkspaceForMember, workspaceForMember } from "./workspace.ts"

/** A workspace by its slug if the user belongs to it; throws `not_found` otherwise, so that strangers cannot probe for slugs. */
export async function getWorkspace({ db }: Store, userId: string, slug: string): Promise<WorkspaceForMember> {
  // As the table's check has it; anything else (a NUL above all) is no question for the database.
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(slug)) throw new GalleyError("not_found", "no such workspace")
  const [workspace] = await db
    .select(workspaceForMember)
    .from(workspaces)
    .innerJoin(memberships, eq(memberships.workspaceId, workspaces.id))
    .where(and(eq(memberships.userId, userId), eq(workspaces.slug, slug)))
  if (!workspace) throw new GalleyError("not_found", "no such workspace")
  return workspace
}
