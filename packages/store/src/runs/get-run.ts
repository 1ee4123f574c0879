import { GalleyError } from "@galley/contract/errors"
import { eq } from "drizzle-orm"
import type { Store } from "../database.ts"
import { reviewResults, reviewRuns } from "../schema.ts"
import { type RunSummary, selectRuns } from "./run-summary.ts"

export interface RunDetail extends RunSummary {
  /** null until the runner handed a result over */
  result: Omit<typeof reviewResults.$inferSelect, "digest"> | null
}

/** One run with findings, coverage, trace and comment. Throws `not_found`. */
export async function getRun(store: Store, workspaceId: string, runId: string): Promise<RunDetail> {
  const [summary] = await selectRuns(store, 1, [eq(reviewRuns.workspaceId, workspaceId), eq(reviewRuns.id, runId)])
  if (!summary) throw new GalleyError("not_found", "no such run")
  const [stored] = await store.db.select().from(reviewResults).where(eq(reviewResults.runId, runId))
  if (!stored) return { ...summary, result: null }
  const { digest: _, ...result } = stored
  return { ...summary, result }
}
