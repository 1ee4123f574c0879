import { uuidv7 } from "uuidv7"
import type { Query, Store } from "../database.ts"
import { sealSecret } from "../seal.ts"
import type { NewGithubHost } from "./github-host.ts"

/** Adds a host, or replaces App and secrets of the host with this name. Seals every secret, all with the current key. Returns its id. */
export async function saveGithubHost(store: Pick<Store, "keyRing">, sql: Query, host: NewGithubHost): Promise<string> {
  const [known] = await sql<[{ id: string }?]>`select id from github_hosts where name = ${host.name} for update`
  const id = known?.id ?? uuidv7()
  const privateKey = sealSecret(store.keyRing, host.privateKey, { owner: id, purpose: "app_private_key" })
  const clientSecret = host.clientSecret && sealSecret(store.keyRing, host.clientSecret, { owner: id, purpose: "client_secret" })
  const webhookSecrets = host.webhookSecrets.map((secret) => {
    const { keyId, sealed } = sealSecret(store.keyRing, secret, { owner: id, purpose: "webhook_secret" })
    return { keyId, sealed: Buffer.from(sealed).toString("base64") }
  })
  const facts = {
    web_url: host.webUrl,
    api_url: host.apiUrl,
    app_id: host.appId,
    app_slug: host.appSlug,
    client_id: host.clientId,
    sealed_client_secret: clientSecret ? clientSecret.sealed : null,
    client_secret_key_id: clientSecret ? clientSecret.keyId : null,
    sealed_private_key: privateKey.sealed,
    private_key_key_id: privateKey.keyId,
    webhook_secrets: sql.json(webhookSecrets),
  }
  await sql`
    insert into github_hosts ${sql({ id, name: host.name, ...facts })}
    on conflict (id) do update set ${sql(facts)}`
  return id
}
