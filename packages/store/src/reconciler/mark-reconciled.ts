import type { Transaction } from "../transaction.ts"

/** Remembers that a pull request was read from GitHub as it is stored: an event of that moment and head then tells nothing new. */
export async function markReconciled({ sql }: Transaction, pullRequestId: string): Promise<void> {
  await sql`update pull_requests set reconciled_at = updated_at, reconciled_sha = head_sha where id = ${pullRequestId}`
}
