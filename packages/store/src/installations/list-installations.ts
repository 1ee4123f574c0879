import { asc, eq } from "drizzle-orm"
import type { Store } from "../database.ts"
import { installations } from "../schema.ts"

export type Installation = typeof installations.$inferSelect

/** Installations of a workspace, removed and suspended ones included. */
export async function listInstallations({ db }: Store, workspaceId: string): Promise<Installation[]> {
  return db.select().from(installations).where(eq(installations.workspaceId, workspaceId)).orderBy(asc(installations.accountLogin))
}
