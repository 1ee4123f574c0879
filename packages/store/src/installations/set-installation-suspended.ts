import { cancelWaitingJobs } from "../queue/cancel-waiting-jobs.ts"
import type { Transaction } from "../transaction.ts"
import { lockProjects } from "./lock-projects.ts"

/** Suspends or resumes an installation; suspending cancels waiting jobs with `installation_suspended`. */
export async function setInstallationSuspended(
  tx: Transaction,
  installation: { id: string; workspaceId: string },
  suspended: boolean,
): Promise<void> {
  const { id, workspaceId } = installation
  await lockProjects(tx, id)
  await tx.sql`
    update installations set suspended_at = ${suspended ? tx.sql`now()` : null} where id = ${id} and workspace_id = ${workspaceId}`
  if (suspended) await cancelWaitingJobs(tx, workspaceId, { installationId: id }, "installation_suspended")
}
