import type { Store } from "../database.ts"
import { toJson } from "../json.ts"

/** Keeps what a feature check found out. */
export async function saveFeatureCheck({ sql }: Store, workspaceId: string, providerId: string, check: object): Promise<void> {
  await sql`
    update model_providers set feature_check = ${sql.json(toJson(check))} where id = ${providerId} and workspace_id = ${workspaceId}`
}
