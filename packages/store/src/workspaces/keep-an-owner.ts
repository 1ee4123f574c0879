import { GalleyError } from "@galley/contract/errors"
import type { Role } from "../schema.ts"
import type { Transaction } from "../transaction.ts"

/** Throws `forbidden` when the workspace would have no owner after this member got the role `next` (null = removed), `not_found`. */
export async function keepAnOwner({ sql }: Transaction, workspaceId: string, userId: string, next: Role | null): Promise<void> {
  // All members are locked: two owners who leave at once must not both pass.
  const members = await sql<{ userId: string; role: Role }[]>`
    select user_id as "userId", role from memberships where workspace_id = ${workspaceId} order by user_id for update`
  if (!members.some((member) => member.userId === userId)) throw new GalleyError("not_found", "no such member")
  const owners = members.filter((member) => member.role === "owner" && (member.userId !== userId || next === "owner"))
  if (owners.length === 0) throw new GalleyError("forbidden", "a workspace needs an owner")
}
