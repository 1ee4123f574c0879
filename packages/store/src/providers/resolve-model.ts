import { GalleyError } from "@galley/contract/errors"
import type { Credentials } from "@galley/contract/protocol"
import type { Store } from "../database.ts"
import { openSecret } from "../seal.ts"
import { ProviderModel } from "./model.ts"

/**
 * Where a logical model of a workspace is served, key opened: only for the credentials of a lease, never logged. Looks at the providers
 * of this workspace alone. Throws `model_not_configured`.
 */
export async function resolveModel({ sql, keyRing }: Store, workspaceId: string, logicalModel: string): Promise<Credentials["model"]> {
  const providers = await sql<{ baseUrl: string; sealed: Uint8Array; keyId: string; models: unknown }[]>`
    select base_url as "baseUrl", sealed_api_key as sealed, api_key_key_id as "keyId", models
    from model_providers where workspace_id = ${workspaceId} order by created_at, id`
  for (const provider of providers) {
    const model = ProviderModel.array()
      .parse(provider.models)
      .find(({ logical }) => logical === logicalModel)
    if (!model) continue
    const apiKey = openSecret(keyRing, provider, { owner: workspaceId, purpose: "model_api_key" })
    const { upstream: upstreamModel, contextTokens, outputTokens, price } = model
    return { baseUrl: provider.baseUrl, apiKey, upstreamModel, contextTokens, outputTokens, price }
  }
  throw new GalleyError("model_not_configured", "no provider of the workspace has this model", { details: { model: logicalModel } })
}
