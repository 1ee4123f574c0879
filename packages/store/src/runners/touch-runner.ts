import type { Capability } from "@galley/contract/protocol"
import type { Store } from "../database.ts"
import type { AuthenticatedRunner } from "./authenticate-runner.ts"

/** Keeps what a runner says about itself with each poll: its own name, version and proven kinds; and whether it still has its old token. */
export async function touchRunner(
  { sql }: Store,
  { id, usesOldToken }: Pick<AuthenticatedRunner, "id" | "usesOldToken">,
  seen: { name: string; version: string; capabilities: readonly Capability[] },
): Promise<void> {
  await sql`
    update runners set reported_name = ${seen.name}, version = ${seen.version}, capabilities = ${sql.json([...seen.capabilities])},
      last_seen_at = clock_timestamp(),
      previous_token_used_at = case when ${usesOldToken} then clock_timestamp() else previous_token_used_at end
    where id = ${id} and removed_at is null`
}
