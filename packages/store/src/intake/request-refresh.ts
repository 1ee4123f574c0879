import { taskQueues } from "../tasks.ts"
import type { Transaction } from "../transaction.ts"

export interface WantedRefresh {
  workspaceId: string
  projectId: string
  number: number
  /** GitHub's `updated_at` of the state that is doubted. */
  updatedAt: Date
}

/** Then the second of that state is over, and GitHub's replicas have heard of its end. */
export const REFRESH_DELAY_SECONDS = 2

/** Asks for a look at a pull request at GitHub. Wishes about the same second join while they wait. */
export async function requestRefresh(tx: Transaction, { workspaceId, projectId, number, updatedAt }: WantedRefresh): Promise<void> {
  const task = { workspaceId, projectId, number, updatedAt: updatedAt.toISOString() }
  await tx.sendTask(taskQueues.refreshPullRequest, task, { startAfter: REFRESH_DELAY_SECONDS })
}
