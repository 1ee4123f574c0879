import type { Store } from "./database.ts"

/**
 * Ids of the keys that sealed what is stored and that the key ring lacks. A host's secrets are sealed together, so the key of its private key
 * stands for all of them.
 */
export async function findUnknownKeys({ sql, keyRing }: Pick<Store, "sql" | "keyRing">): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select private_key_key_id as id from github_hosts union select api_key_key_id from model_providers order by id`
  return rows.map(({ id }) => id).filter((id) => id !== keyRing.current.id && id !== keyRing.previous?.id)
}
