import { asc, eq } from "drizzle-orm"
import type { Store } from "../database.ts"
import { memberships, workspaces } from "../schema.ts"
import { type WorkspaceForMember, workspaceForMember } from "./workspace.ts"

/** Workspaces a user belongs to, with the role there. */
export async function listWorkspaces({ db }: Store, userId: string): Promise<WorkspaceForMember[]> {
  return db
    .select(workspaceForMember)
    .from(workspaces)
    .innerJoin(memberships, eq(memberships.workspaceId, workspaces.id))
    .where(eq(memberships.userId, userId))
    .orderBy(asc(workspaces.name))
}
