import type { Store } from "../database.ts"
import { hashSessionId } from "./session-id.ts"

export interface SessionUser {
  userId: string
  hostId: string
  githubUserId: number
  login: string
  name: string
  avatarUrl: string | null
}

/** The user of a live session, or null for an unknown or expired one. */
export async function findSession({ sql }: Store, id: string): Promise<SessionUser | null> {
  const [user] = await sql<[SessionUser?]>`
    select u.id as "userId", u.host_id as "hostId", u.github_user_id as "githubUserId", u.login, u.name, u.avatar_url as "avatarUrl"
    from sessions s join users u on u.id = s.user_id
    where s.id_hash = ${hashSessionId(id)} and s.expires_at > now()`
  return user ?? null
}
