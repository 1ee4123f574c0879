import type { PendingQuery, Row } from "postgres"
import type { Query } from "../database.ts"

/** Until when the token before the last rotation of the runner `r` works; null when it does no more. */
export const oldTokenUntil = (sql: Query): PendingQuery<Row[]> =>
  sql`case when r.previous_token_until > clock_timestamp() then r.previous_token_until end`
