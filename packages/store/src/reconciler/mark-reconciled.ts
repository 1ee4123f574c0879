import type { Transaction } from "../transaction.ts"

/** Remembers that the stored state of a pull request was read from GitHub: an event of the same moment then tells nothing new. */
export async function markReconciled({ sql }: Transaction, pullRequestId: string): Promise<void> {
  await sql`update pull_requests set reconciled_at = updated_at where id = ${pullRequestId}`
}
