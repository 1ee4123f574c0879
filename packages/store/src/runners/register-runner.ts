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
  /** From the environment of the first start; a random one when missing. */
  token?: string
}

/**
 * Registers a runner; only the hash of its token is kept, so the returned token is seen once. A name that exists in the workspace gets
 * the new token.
 */
export async function registerRunner(store: Store, runner: NewRunner): Promise<{ runnerId: string; token: string }> {
  const token = runner.token ?? createRunnerToken()
  return inTransaction(store, async ({ sql }) => {
    const [{ id }] = await sql<[{ id: string }]>`
      insert into runners (id, workspace_id, name, token_hash)
      values (${uuidv7()}, ${runner.workspaceId}, ${runner.name}, ${hashRunnerToken(token)})
      on conflict (workspace_id, name) do update set token_hash = excluded.token_hash
      returning id`
    await recordAudit(sql, { workspaceId: runner.workspaceId, actor: runner.actor, action: "runner.register", subject: id })
    return { runnerId: id, token }
  })
}
