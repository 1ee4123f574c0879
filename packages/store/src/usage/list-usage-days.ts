import { and, asc, eq, gte } from "drizzle-orm"
import type { Store } from "../database.ts"
import { usageDays } from "../schema.ts"

export type UsageDay = Omit<typeof usageDays.$inferSelect, "workspaceId">

/** Sums of a workspace from a day on, oldest first. @param since `YYYY-MM-DD`, UTC */
export async function listUsageDays({ db }: Store, workspaceId: string, since: string): Promise<UsageDay[]> {
  const rows = await db
    .select()
    .from(usageDays)
    .where(and(eq(usageDays.workspaceId, workspaceId), gte(usageDays.day, since)))
    .orderBy(asc(usageDays.day), asc(usageDays.reviewKind), asc(usageDays.model))
  return rows.map(({ workspaceId: _, ...day }) => day)
}
