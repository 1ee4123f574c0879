import type { JSONValue } from "postgres"
import { uuidv7 } from "uuidv7"
import type { Query } from "../database.ts"

export interface AuditEntry {
  /** null for what concerns the whole installation of Galley */
  workspaceId: string | null
  /** Login of a person, or `system`. */
  actor: string
  /** `<noun>.<verb>`, e.g. `settings.update`. */
  action: string
  /** Id of what was changed. */
  subject: string
  /** Small JSON; never a secret or the text of a skill. */
  details?: Readonly<Record<string, JSONValue>>
}

/** Adds to the audit log, in the transaction of the change. The log can only grow: the database refuses updates and deletes. */
export async function recordAudit(sql: Query, entry: AuditEntry): Promise<void> {
  await sql`
    insert into audit_log (id, workspace_id, actor, action, subject, details)
    values (${uuidv7()}, ${entry.workspaceId}, ${entry.actor}, ${entry.action}, ${entry.subject}, ${sql.json(entry.details ?? {})})`
}
