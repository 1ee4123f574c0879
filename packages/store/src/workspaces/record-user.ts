import { uuidv7 } from "uuidv7"
import type { Query } from "../database.ts"

export interface UserSnapshot {
  hostId: string
  githubUserId: number
  login: string
  name: string
  avatarUrl: string | null
}

/** Records a person as GitHub knows them (logins change, ids do not). Returns the id. */
export async function recordUser(sql: Query, user: UserSnapshot): Promise<string> {
  const facts = { login: user.login, name: user.name, avatar_url: user.avatarUrl }
  const [{ id }] = await sql<[{ id: string }]>`
    insert into users ${sql({ id: uuidv7(), host_id: user.hostId, github_user_id: user.githubUserId, ...facts })}
    on conflict (host_id, github_user_id) do update set ${sql(facts)} returning id`
  return id
}
