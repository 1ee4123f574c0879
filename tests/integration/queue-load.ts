import { randomUUID } from "node:crypto"
import type { Query, Store } from "@galley/store/database"
import { hashToken } from "@galley/store/queue/lease-token"
import { push, type Tenant } from "./store-fixture.ts"

/** So many waiting jobs, the first of this database, all of one kind and due, with statistics as the planner would have them. */
export async function fillQueue(store: Store, tenant: Tenant, jobs: number): Promise<void> {
  const first = await push(store, tenant, 1)
  await store.sql.begin(async (sql) => {
    // Each is like the first one, whose references are right: they are not checked again.
    await sql`set local session_replication_role = replica`
    await sql`set local statement_timeout = 0`
    // Laterally: (f(x)).* calls f for every column.
    await sql`
      insert into pull_requests
      select copy.* from pull_requests q, generate_series(2, ${jobs}::int) n,
        jsonb_populate_record(q, jsonb_build_object('id', gen_random_uuid(), 'number', n)) copy
      where q.id = ${first.pullRequestId}`
    await sql`
      insert into review_jobs
      select copy.* from review_jobs j, pull_requests q,
        jsonb_populate_record(j, jsonb_build_object('id', gen_random_uuid(), 'pull_request_id', q.id)) copy
      where j.id = ${first.jobId} and q.id <> ${first.pullRequestId}`
  })
  await store.sql`vacuum analyze review_jobs`
  await store.sql`vacuum analyze pull_requests`
}

/** So many workspaces like the first one, each with due and as many finished jobs, and statistics as the planner would have them. */
export async function fillWorkspaces(store: Store, tenant: Tenant, workspaces: number, jobs: number): Promise<void> {
  await push(store, tenant, 1)
  await store.sql.begin(async (sql) => {
    await sql`set local session_replication_role = replica`
    const id = (name: string) => sql.unsafe(`md5('${name}' || n)::uuid`)
    await sql`
      insert into workspaces
      select copy.* from workspaces w, generate_series(1, ${workspaces}::int) n,
        jsonb_populate_record(w, jsonb_build_object('id', ${id("workspace")}, 'slug', 'w' || n)) copy`
    await sql`
      insert into projects
      select copy.* from projects p, generate_series(1, ${workspaces}::int) n,
        jsonb_populate_record(p, jsonb_build_object('id', ${id("project")}, 'workspace_id', ${id("workspace")},
          'github_repository_id', n)) copy`
    await sql`
      insert into pull_requests
      select copy.* from pull_requests q, generate_series(1, ${workspaces}::int) n, generate_series(1, ${jobs}::int) m,
        jsonb_populate_record(q, jsonb_build_object('id', gen_random_uuid(), 'number', m, 'workspace_id', ${id("workspace")},
          'project_id', ${id("project")})) copy`
    await sql`
      insert into review_jobs
      select copy.* from review_jobs j, pull_requests q,
        (values ('waiting', null), ('succeeded', now())) its (state, finished_at),
        jsonb_populate_record(j, jsonb_build_object('id', gen_random_uuid(), 'pull_request_id', q.id, 'workspace_id', q.workspace_id,
          'project_id', q.project_id, 'state', its.state, 'finished_at', its.finished_at,
          'run_after', now() - q.number * interval '1 second')) copy
      where q.id <> j.pull_request_id`
  })
  await store.sql`vacuum analyze review_jobs`
  await store.sql`vacuum analyze pull_requests`
}

/** Runs `work` in one transaction and counts the rows of jobs and pull requests that it looks at, as Postgres counts them. */
export async function countRows<T>(store: Store, work: (sql: Query) => Promise<T>): Promise<{ rows: number; value: T }> {
  return store.sql.begin(async (sql) => {
    const count = () => sql<[{ rows: number }]>`
      select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows from pg_stat_xact_user_tables
      where relname in ('review_jobs', 'pull_requests')`
    const [before] = await count()
    const value = await work(sql)
    const [after] = await count()
    return { rows: after.rows - before.rows, value }
  })
}

/** What one claim takes, in the transaction of `sql`. */
export async function claimIn(sql: Query, tenant: Tenant, kinds: readonly string[]): Promise<number> {
  const request = {
    requestId: randomUUID(),
    runId: randomUUID(),
    runnerId: tenant.runnerId,
    workspaceId: null,
    kinds: [...kinds],
    tokenHash: hashToken("t").toString("hex"),
  }
  return (await sql`select from claim_review_jobs(${sql.json([request])}, 60000)`).length
}

/** Hands over a review of some running job of this database, which `claimIn` took, in the transaction of `sql`. @returns the job's state */
export async function completeIn(sql: Query): Promise<string> {
  const [run] = await sql<[{ leaseId: string; runnerId: string; fence: number }]>`
    select id as "leaseId", runner_id as "runnerId", fence from review_runs where outcome = 'running' limit 1`
  const result = { ...run, tokenHash: hashToken("t").toString("hex"), outcome: "reviewed", digest: "00", usage: {}, state: {} }
  const rest = { findings: [], coverage: {}, trace: {}, comment: "a comment" }
  const [{ state }] = await sql<[{ state: string }]>`
    select job_state as state from complete_reviews(${sql.json([{ ...result, ...rest }])})`
  return state
}
