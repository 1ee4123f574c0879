import { uuidv7 } from "uuidv7"
import type { Query } from "../database.ts"
import { hashRunnerToken, TOKEN_OVERLAP_MS } from "./runner-token.ts"

/**
 * Brings a runner whose token an operator chose up to date, or makes it. Another token than its present one is a rotation: the present one
 * goes on working for the usual overlap.
 */
export async function ensureRunner(sql: Query, runner: { workspaceId: string; name: string; token: string }): Promise<void> {
  await sql`
    insert into runners (id, workspace_id, name, token_hash)
    values (${uuidv7()}, ${runner.workspaceId}, ${runner.name}, ${hashRunnerToken(runner.token)})
    on conflict (workspace_id, name) do update set
      token_hash = excluded.token_hash, previous_token_used_at = null,
      previous_token_hash = case when runners.removed_at is null then runners.token_hash end,
      previous_token_until =
        case when runners.removed_at is null then clock_timestamp() + ${TOKEN_OVERLAP_MS}::float8 * interval '1 millisecond' end,
      removed_at = null
    where runners.token_hash <> excluded.token_hash`
}
