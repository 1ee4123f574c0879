import { desc, eq } from "drizzle-orm"
import type { Store } from "../database.ts"
import { auditLog } from "../schema.ts"

export type AuditRecord = typeof auditLog.$inferSelect

/** The newest entries of a workspace first. */
export async function listAudit({ db }: Store, workspaceId: string, limit = 100): Promise<AuditRecord[]> {
  return db.select().from(auditLog).where(eq(auditLog.workspaceId, workspaceId)).orderBy(desc(auditLog.at), desc(auditLog.id)).limit(limit)
}
