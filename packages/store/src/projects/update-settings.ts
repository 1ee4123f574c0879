import { GalleyError } from "@galley/contract/errors"
import { ProjectSettings } from "@galley/contract/settings"
import { recordAudit } from "../audit/record-audit.ts"
import type { Store } from "../database.ts"
import { toJson } from "../json.ts"
import { cancelWaitingJobs } from "../queue/cancel-waiting-jobs.ts"
import { inTransaction } from "../transaction.ts"

export interface SettingsUpdate {
  workspaceId: string
  projectId: string
  /** The version the form was filled from. */
  version: number
  /** Keys to change. `reviewSkill: null` goes back to the shipped skill. Keys that are not named keep their value, unknown ones too. */
  changes: Readonly<Record<string, unknown>>
  actor: string
}

/**
 * Changes settings and, in the same transaction, cancels waiting jobs that no longer fit: all of them with `review_kind_changed` after a
 * change of kind, with `project_inactive` after deactivation. Running reviews finish. Throws `settings_conflict` when someone else
 * saved meanwhile, `settings_invalid` for values out of bounds, `not_found`.
 *
 * @returns the new settings and version
 */
export async function updateSettings(store: Store, update: SettingsUpdate): Promise<{ settings: ProjectSettings; version: number }> {
  return inTransaction(store, async (tx) => {
    const { sql } = tx
    const [row] = await sql<[{ settings: Record<string, unknown>; version: number }?]>`
      select settings, settings_version as version from projects
      where id = ${update.projectId} and workspace_id = ${update.workspaceId} for update`
    if (!row) throw new GalleyError("not_found", "no such project")
    if (row.version !== update.version) throw new GalleyError("settings_conflict", "the settings were changed by someone else")

    const before = ProjectSettings.parse(row.settings)
    const after = parseSettings(applyChanges(row.settings, update.changes))
    const version = row.version + 1
    await sql`
      update projects set settings = ${sql.json(toJson(after))}, settings_version = ${version},
        activated_at = ${!before.active && after.active ? sql`now()` : sql`activated_at`}
      where id = ${update.projectId}`
    const scope = { projectId: update.projectId }
    if (before.reviewKind !== after.reviewKind) await cancelWaitingJobs(tx, update.workspaceId, scope, "review_kind_changed")
    if (before.active && !after.active) await cancelWaitingJobs(tx, update.workspaceId, scope, "project_inactive")
    await recordAudit(sql, {
      workspaceId: update.workspaceId,
      actor: update.actor,
      action: "settings.update",
      subject: update.projectId,
      details: { keys: Object.keys(update.changes), version },
    })
    return { settings: after, version }
  })
}

function applyChanges(settings: Record<string, unknown>, changes: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const merged = { ...settings, ...changes }
  if (changes.reviewSkill === null) delete merged.reviewSkill
  return merged
}

function parseSettings(candidate: unknown): ProjectSettings {
  const parsed = ProjectSettings.safeParse(candidate)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new GalleyError("settings_invalid", issue?.message ?? "invalid settings", {
    details: { field: issue?.path.join(".") ?? "" },
  })
}
