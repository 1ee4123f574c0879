import type { Capability } from "@galley/contract/protocol"
import type { Store } from "../database.ts"

/** Keeps what a runner says about itself with each poll: its own name, version and proven kinds. */
export async function touchRunner(
  { sql }: Store,
  runnerId: string,
  seen: { name: string; version: string; capabilities: readonly Capability[] },
): Promise<void> {
  await sql`
    update runners set reported_name = ${seen.name}, version = ${seen.version}, capabilities = ${sql.json([...seen.capabilities])}, last_seen_at = clock_timestamp()
    where id = ${runnerId}`
}
