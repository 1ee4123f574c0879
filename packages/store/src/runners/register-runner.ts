import { GalleyError } from "@galley/contract/errors"
import { uuidv7 } from "uuidv7"
import { recordAudit } from "../audit/record-audit.ts"
import type { Store } from "../database.ts"
import { inTransaction } from "../transaction.ts"
import { createRunnerToken, hashRunnerToken } from "./runner-token.ts"

export interface NewRunner {
  /** null = works for every workspace */
  workspaceId: string | null
  name: string
  actor: string
}

/**
 * Registers a runner; only the hash of its token is kept, so the returned token is seen once. The name of a removed runner may be used
 * again: its row, and with it the history of its runs, is the new one's. Throws `runner_name_taken`.
 */
export async function registerRunner(store: Store, runner: NewRunner): Promise<{ runnerId: string; token: string }> {
  const token = createRunnerToken()
  const { workspaceId, name, actor } = runner
  return inTransaction(store, async ({ sql }) => {
    const [registered] = await sql<[{ id: string }?]>`
      insert into runners (id, workspace_id, name, token_hash) values (${uuidv7()}, ${workspaceId}, ${name}, ${hashRunnerToken(token)})
      on conflict (workspace_id, name) do update set token_hash = excluded.token_hash, removed_at = null, created_at = now()
        where runners.removed_at is not null
      returning id`
    if (!registered) throw new GalleyError("runner_name_taken", "a runner of this name is there already", { details: { field: "name" } })
    await recordAudit(sql, { workspaceId, actor, action: "runner.register", subject: registered.id, details: { name } })
    return { runnerId: registered.id, token }
  })
}
