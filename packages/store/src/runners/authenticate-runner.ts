import { GalleyError } from "@galley/contract/errors"
import type { Store } from "../database.ts"
import { hashRunnerToken } from "./runner-token.ts"

export interface AuthenticatedRunner {
  id: string
  /** null = works for every workspace */
  workspaceId: string | null
  name: string
  paused: boolean
  /** It came with the token before the last rotation. */
  usesOldToken: boolean
  /** By the database's clock. */
  now: Date
}

/** Who shows this token. Throws `runner_unauthorized`, the same for every wrong token. */
export async function authenticateRunner({ sql }: Store, token: string): Promise<AuthenticatedRunner> {
  const hash = hashRunnerToken(token)
  const [runner] = await sql<[AuthenticatedRunner?]>`
    select id, workspace_id as "workspaceId", name, paused, token_hash <> ${hash} as "usesOldToken", clock_timestamp() as now
    from runners
    where (token_hash = ${hash} or (previous_token_hash = ${hash} and previous_token_until > clock_timestamp())) and removed_at is null
    -- The environment's token may have gone from one runner to another, whose own it is now.
    order by token_hash = ${hash} desc limit 1`
  if (!runner) throw new GalleyError("runner_unauthorized", "unknown runner token")
  return runner
}
