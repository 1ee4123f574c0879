import { ProjectSettings } from "@galley/contract/settings"
import type { Store } from "../database.ts"
import { inTransaction, type Transaction } from "../transaction.ts"
import type { DeliveryVerdict } from "./with-intake.ts"

export interface LockedProject {
  id: string
  workspaceId: string
  settings: ProjectSettings
}

/**
 * Finishes a delivery that needed a look at GitHub first: one transaction with the project locked against settings changes, whose verdict
 * replaces the delivery's. Null for a project that is gone; nothing is done then.
 */
export async function withProject(
  store: Store,
  at: { workspaceId: string; projectId: string; hostId: string; deliveryId: string },
  decide: (tx: Transaction, project: LockedProject) => Promise<DeliveryVerdict>,
): Promise<DeliveryVerdict | null> {
  return inTransaction(store, async (tx) => {
    const { sql } = tx
    const [project] = await sql<[{ settings: unknown }?]>`
      select settings from projects
      where id = ${at.projectId} and workspace_id = ${at.workspaceId} and removed_at is null for share`
    if (!project) return null
    const settings = ProjectSettings.parse(project.settings)
    const verdict = await decide(tx, { id: at.projectId, workspaceId: at.workspaceId, settings })
    await sql`
      update webhook_deliveries set outcome = ${verdict.outcome}, reason = ${verdict.reason}, job_id = ${verdict.jobId ?? null}
      where host_id = ${at.hostId} and delivery_id = ${at.deliveryId}`
    return verdict
  })
}
