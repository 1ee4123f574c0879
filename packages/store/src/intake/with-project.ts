import { ProjectSettings } from "@galley/contract/settings"
import type { Store } from "../database.ts"
import { inTransaction, type Transaction } from "../transaction.ts"
import { settleDelivery } from "./settle-delivery.ts"
import type { DeliveryVerdict } from "./with-intake.ts"

export interface LockedProject {
  id: string
  workspaceId: string
  settings: ProjectSettings
}

/**
 * Finishes a delivery that needed a look at GitHub first: one transaction with the project locked against settings changes, whose verdict
 * replaces the delivery's: `repository_gone` for a project that is gone.
 */
export async function withProject(
  store: Store,
  at: { workspaceId: string; projectId: string; hostId: string; deliveryId: string },
  decide: (tx: Transaction, project: LockedProject) => Promise<DeliveryVerdict>,
): Promise<DeliveryVerdict> {
  return inTransaction(store, async (tx) => {
    const [project] = await tx.sql<[{ settings: unknown }?]>`
      select settings from projects
      where id = ${at.projectId} and workspace_id = ${at.workspaceId} and removed_at is null for share`
    const verdict: DeliveryVerdict = project
      ? await decide(tx, { id: at.projectId, workspaceId: at.workspaceId, settings: ProjectSettings.parse(project.settings) })
      : { outcome: "ignored", reason: "repository_gone" }
    await settleDelivery(tx, at, verdict)
    return verdict
  })
}
