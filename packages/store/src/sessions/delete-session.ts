import type { Store } from "../database.ts"
import { hashSessionId } from "./session-id.ts"

/** Signs a browser out; an unknown id is fine. */
export async function deleteSession({ sql }: Store, id: string): Promise<void> {
  await sql`delete from sessions where id_hash = ${hashSessionId(id)}`
}
