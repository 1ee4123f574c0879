import { cancelWaitingJobs } from "../queue/cancel-waiting-jobs.ts"
import type { Transaction } from "../transaction.ts"
import { lockProjects } from "./lock-projects.ts"

/** Marks an installation as gone and cancels waiting jobs with `installation_gone`; projects and history stay. */
export async function removeInstallation(tx: Transaction, installation: { id: string; workspaceId: string }): Promise<void> {
  const { id, workspaceId } = installation
  await lockProjects(tx, id)
  await tx.sql`update installations set removed_at = now() where id = ${id} and workspace_id = ${workspaceId}`
  await cancelWaitingJobs(tx, workspaceId, { installationId: id }, "installation_gone")
}
