import type { Store } from "../database.ts"

/** The workspace's default logical model: what Diff Review asks for. null without a provider. */
export async function defaultModel({ sql }: Store, workspaceId: string): Promise<string | null> {
  const [row] = await sql<[{ model: string }?]>`
    select default_model as model from model_providers where workspace_id = ${workspaceId} order by created_at, id limit 1`
  return row?.model ?? null
}
