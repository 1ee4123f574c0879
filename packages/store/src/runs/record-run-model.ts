import type { Store } from "../database.ts"

/** Remembers the logical model a run was leased with, for the sums of usage. */
export async function recordRunModel({ sql }: Store, runId: string, model: string): Promise<void> {
  await sql`update review_runs set model = ${model} where id = ${runId}`
}
