import { GalleyError } from "@galley/contract/errors"
import { uuidv7 } from "uuidv7"
import type { Query, Store } from "../database.ts"
import { toJson } from "../json.ts"
import { sealSecret } from "../seal.ts"
import type { ProviderModel } from "./model.ts"

export interface NewModelProvider {
  workspaceId: string
  name: string
  /** OpenAI-compatible base URL, without a trailing slash. */
  baseUrl: string
  /** Missing = keep the stored key of the provider with this name. */
  apiKey?: string
  models: readonly ProviderModel[]
  /** Logical model of a review that names none (Diff Review). */
  defaultModel: string
}

/** Adds a provider or replaces the one with this name; a change forgets the last feature check. Throws `request_invalid`. */
export async function saveModelProvider(store: Pick<Store, "keyRing">, sql: Query, provider: NewModelProvider): Promise<string> {
  if (!provider.models.some(({ logical }) => logical === provider.defaultModel)) {
    throw new GalleyError("request_invalid", "the default model is not one of the models", { details: { field: "defaultModel" } })
  }
  const { workspaceId, apiKey } = provider
  const sealed = apiKey === undefined ? null : sealSecret(store.keyRing, apiKey, { owner: workspaceId, purpose: "model_api_key" })
  const facts = {
    base_url: provider.baseUrl,
    models: sql.json(toJson(provider.models)),
    default_model: provider.defaultModel,
    feature_check: null,
    ...(sealed && { sealed_api_key: sealed.sealed, api_key_key_id: sealed.keyId }),
  }
  const [saved] = sealed
    ? await sql<[{ id: string }?]>`
        insert into model_providers ${sql({ id: uuidv7(), workspace_id: workspaceId, name: provider.name, ...facts })}
        on conflict (workspace_id, name) do update set ${sql(facts)}, updated_at = now() returning id`
    : await sql<[{ id: string }?]>`
        update model_providers set ${sql(facts)}, updated_at = now()
        where workspace_id = ${workspaceId} and name = ${provider.name} returning id`
  if (!saved) throw new GalleyError("request_invalid", "a new provider needs a key", { details: { field: "apiKey" } })
  return saved.id
}
