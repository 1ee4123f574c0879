import type { Store } from "../database.ts"
import { ProviderModel } from "./model.ts"

/** A provider as pages show it: without its key. */
export interface ModelProvider {
  id: string
  workspaceId: string
  name: string
  baseUrl: string
  models: ProviderModel[]
  defaultModel: string
  featureCheck: Record<string, unknown> | null
  updatedAt: Date
}

/** Providers of a workspace by name, without keys. */
export async function listModelProviders({ sql }: Store, workspaceId: string): Promise<ModelProvider[]> {
  const rows = await sql<(Omit<ModelProvider, "models"> & { models: unknown })[]>`
    select id, workspace_id as "workspaceId", name, base_url as "baseUrl", models, default_model as "defaultModel",
      feature_check as "featureCheck", updated_at as "updatedAt"
    from model_providers where workspace_id = ${workspaceId} order by name`
  return rows.map((row) => ({ ...row, models: ProviderModel.array().parse(row.models) }))
}
