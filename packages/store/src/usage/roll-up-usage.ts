import type { Store } from "../database.ts"

/** A run may end, and its usage be settled, so long after the day it started on. */
const OPEN_DAYS = 2

/**
 * Sums the usage of runs by workspace, day (UTC, of their start), kind and model. The last days are summed anew each time, so it may be
 * called as often as one likes; what was missed while nothing ran is made up for. Days whose runs were removed keep their sums.
 *
 * @returns how many sums were written
 */
export async function rollUpUsage({ sql }: Store): Promise<number> {
  const written = await sql`
    with since (workspace_id, day) as (
      select w.id, case when max(u.day) is null then '-infinity' else least(max(u.day), (now() at time zone 'UTC')::date) - ${OPEN_DAYS}::integer end
      from workspaces w left join usage_days u on u.workspace_id = w.id group by w.id
    )
    insert into usage_days as u (workspace_id, day, review_kind, model, runs, failed_runs, model_calls, input_tokens, output_tokens,
      cost_usd, unpriced_runs)
    select s.workspace_id, (r.started_at at time zone 'UTC')::date, r.review_kind, coalesce(r.model, ''), count(*),
      count(*) filter (where r.outcome in ('failed', 'lost')),
      coalesce(sum((r.usage ->> 'modelCalls')::bigint), 0), coalesce(sum((r.usage ->> 'inputTokens')::bigint), 0),
      coalesce(sum((r.usage ->> 'outputTokens')::bigint), 0), coalesce(sum((r.usage ->> 'costUsd')::float8), 0),
      count(*) filter (where (r.usage ->> 'modelCalls')::bigint > 0 and r.usage ->> 'costUsd' is null)
    from since s join review_runs r on r.workspace_id = s.workspace_id
      and r.started_at >= case when isfinite(s.day) then s.day::timestamp at time zone 'UTC' else '-infinity' end
    group by 1, 2, 3, 4
    on conflict (workspace_id, day, review_kind, model) do update set
      runs = excluded.runs, failed_runs = excluded.failed_runs, model_calls = excluded.model_calls, input_tokens = excluded.input_tokens,
      output_tokens = excluded.output_tokens, cost_usd = excluded.cost_usd, unpriced_runs = excluded.unpriced_runs`
  return written.count
}
