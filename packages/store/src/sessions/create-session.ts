import { randomBytes } from "node:crypto"
import type { Store } from "../database.ts"
import { hashSessionId } from "./session-id.ts"

const SESSION_DAYS = 30

/**
 * Signs a browser in for 30 days. Only the hash of the id is kept, so a copy of the database opens no session.
 *
 * @returns the id for the cookie, 43 characters of base64url
 */
export async function createSession({ sql }: Store, userId: string): Promise<string> {
  const id = randomBytes(32).toString("base64url")
  await sql`
    insert into sessions (id_hash, user_id, expires_at)
    values (${hashSessionId(id)}, ${userId}, now() + ${SESSION_DAYS} * interval '1 day')`
  return id
}
