import { cancelWaitingJobs } from "../queue/cancel-waiting-jobs.ts"
import type { Transaction } from "../transaction.ts"
import { lockProjects } from "./lock-projects.ts"

/** Suspends an installation and cancels its waiting jobs with `installation_suspended`. */
export async function suspendInstallation(tx: Transaction, installation: { id: string; workspaceId: string }): Promise<void> {
  const { id, workspaceId } = installation
  await lockProjects(tx, id)
  await tx.sql`update installations set suspended_at = now() where id = ${id} and workspace_id = ${workspaceId}`
  await cancelWaitingJobs(tx, workspaceId, { installationId: id }, "installation_suspended")
}
