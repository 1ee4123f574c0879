import { memberships, type Role, workspaces } from "../schema.ts"

/** A workspace as one of its members sees it. */
export type WorkspaceForMember = Omit<typeof workspaces.$inferSelect, "lastClaimedAt"> & { role: Role }

export const workspaceForMember = {
  id: workspaces.id,
  slug: workspaces.slug,
  name: workspaces.name,
  maxRunningJobs: workspaces.maxRunningJobs,
  createdAt: workspaces.createdAt,
  role: memberships.role,
}
