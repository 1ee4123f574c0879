import type { Store } from "../database.ts"
import { openSecret } from "../seal.ts"
import type { GithubHost } from "./github-host.ts"

/** All hosts, secrets opened. Few and rarely changed: read them at the start and after a change. */
export async function listGithubHosts({ sql, keyRing }: Store): Promise<GithubHost[]> {
  const rows = await sql<HostRow[]>`select * from github_hosts order by name`
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    webUrl: row.web_url,
    apiUrl: row.api_url,
    appId: row.app_id,
    appSlug: row.app_slug,
    privateKey: openSecret(
      keyRing,
      { keyId: row.private_key_key_id, sealed: row.sealed_private_key },
      { owner: row.id, purpose: "app_private_key" },
    ),
    webhookSecrets: row.webhook_secrets.map(({ keyId, sealed }) =>
      openSecret(keyRing, { keyId, sealed: Buffer.from(sealed, "base64") }, { owner: row.id, purpose: "webhook_secret" }),
    ),
    clientId: row.client_id,
    clientSecret:
      row.sealed_client_secret && row.client_secret_key_id
        ? openSecret(
            keyRing,
            { keyId: row.client_secret_key_id, sealed: row.sealed_client_secret },
            { owner: row.id, purpose: "client_secret" },
          )
        : null,
  }))
}

interface HostRow {
  id: string
  name: string
  web_url: string
  api_url: string
  app_id: number
  app_slug: string
  client_id: string | null
  sealed_client_secret: Uint8Array | null
  client_secret_key_id: string | null
  sealed_private_key: Uint8Array
  private_key_key_id: string
  webhook_secrets: { keyId: string; sealed: string }[]
}
