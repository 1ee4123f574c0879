import { asc, eq } from "drizzle-orm"
import type { Store } from "../database.ts"
import { memberships, type Role, users } from "../schema.ts"

export interface Member {
  userId: string
  login: string
  name: string
  avatarUrl: string | null
  role: Role
}

/** Members by login. */
export async function listMembers({ db }: Store, workspaceId: string): Promise<Member[]> {
  return db
    .select({ userId: users.id, login: users.login, name: users.name, avatarUrl: users.avatarUrl, role: memberships.role })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(eq(memberships.workspaceId, workspaceId))
    .orderBy(asc(users.login))
}
