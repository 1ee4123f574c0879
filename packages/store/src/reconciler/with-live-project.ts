import { ProjectSettings } from "@galley/contract/settings"
import type { Store } from "../database.ts"
import { inTransaction, type Transaction } from "../transaction.ts"

export interface LiveProject {
  settings: ProjectSettings
  /** When somebody last switched it on; null when that is not known. */
  activatedAt: Date | null
}

/**
 * One transaction with the project locked against changes of settings and installation. Null for a project that is gone, or whose
 * installation is gone or suspended; `work` is not called then.
 */
export async function withLiveProject<T>(
  store: Store,
  at: { workspaceId: string; projectId: string },
  work: (tx: Transaction, project: LiveProject) => Promise<T>,
): Promise<T | null> {
  return inTransaction(store, async (tx) => {
    const [project] = await tx.sql<[{ settings: unknown; activatedAt: Date | null; installationId: string }?]>`
      select settings, activated_at as "activatedAt", installation_id as "installationId" from projects
      where id = ${at.projectId} and workspace_id = ${at.workspaceId} and removed_at is null for share`
    // Its own statement: the installation as it is once the lock is held.
    const [live] = await tx.sql`
      select from installations where id = ${project?.installationId ?? null} and removed_at is null and suspended_at is null`
    if (!project || !live) return null
    return work(tx, { settings: ProjectSettings.parse(project.settings), activatedAt: project.activatedAt })
  })
}
