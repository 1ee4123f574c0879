import type { Store } from "../database.ts"

/** Removes sessions that ran out; returns how many. */
export async function sweepSessions({ sql }: Store): Promise<number> {
  const swept = await sql`delete from sessions where expires_at <= now()`
  return swept.count
}
