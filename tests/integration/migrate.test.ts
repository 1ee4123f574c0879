import { copyFile, mkdtemp, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describeSchema } from "@galley/store/describe-schema"
import { assertSchema, migrate } from "@galley/store/migrate"
import postgres from "postgres"
import { expect, inject, onTestFinished, test } from "vitest"
import { freshDatabase } from "./database.ts"

const migrations = fileURLToPath(new URL("../../migrations", import.meta.url))
const withoutKinds = "20261130120000_tables.sql"

function connect(url: string): postgres.Sql {
  const sql = postgres(url, { max: 2, onnotice: () => {} })
  onTestFinished(() => sql.end())
  return sql
}

/** A copy of the migrations that a test may change. */
async function copiedMigrations(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "galley-migrations-"))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  for (const name of await readdir(migrations)) await copyFile(join(migrations, name), join(directory, name))
  return directory
}

/** Rows as a server that knew no kinds would have left them: one job waiting, one running, one done. */
async function fillOldQueue(sql: postgres.Sql): Promise<void> {
  await sql.unsafe(`
    insert into workspaces (id, slug, name) values ('00000000-0000-4000-8000-000000000001', 'acme', 'Acme');
    insert into github_hosts (id, name, web_url, api_url, app_id, app_slug, sealed_private_key, private_key_key_id, webhook_secrets)
      values ('00000000-0000-4000-8000-000000000002', 'github.com', '', '', 1, 'galley', '', 'k', '[{}]');
    insert into installations (id, workspace_id, host_id, github_installation_id, account_login)
      select '00000000-0000-4000-8000-000000000003', w.id, h.id, 1, 'acme' from workspaces w, github_hosts h;
    insert into projects (id, workspace_id, installation_id, host_id, github_repository_id, owner, name, web_url, git_url)
      select '00000000-0000-4000-8000-000000000004', i.workspace_id, i.id, i.host_id, 1, 'acme', 'demo', '', '' from installations i;
    insert into pull_requests (id, workspace_id, project_id, number, title, description, author, base_ref, base_sha, head_ref, head_sha,
      web_url, draft, open, updated_at)
      select gen_random_uuid(), p.workspace_id, p.id, n, '', '', '', '', '', '', '', '', false, true, now()
      from projects p, generate_series(1, 3) n;
    insert into review_jobs (id, workspace_id, project_id, pull_request_id, state, cause, head_sha, base_sha, head_updated_at, run_after,
      lease_token_hash, lease_expires_at, finished_at)
      select gen_random_uuid(), workspace_id, project_id, id, (array['waiting', 'running', 'succeeded'])[number], 'event', 'head', 'base',
        now(), now(), case when number = 2 then '\\x00'::bytea end, case when number = 2 then now() end,
        case when number = 3 then now() end
      from pull_requests;`)
}

/** As an old server would, without a kind, unless one is given. */
const insertJob = (sql: postgres.Sql, number: number, state: string, kind?: string) => sql`
  insert into review_jobs (id, workspace_id, project_id, pull_request_id, state, cause, head_sha, base_sha, head_updated_at, run_after
    ${kind ? sql`, review_kind` : sql``})
  select gen_random_uuid(), workspace_id, project_id, id, ${state}, 'event', 'head', 'base', now(), now() ${kind ? sql`, ${kind}` : sql``}
  from pull_requests where number = ${number}`

// R-KIND-5
test("gives jobs queued before kinds existed the kind diff, and lets an old server go on inserting", async () => {
  const { url } = await freshDatabase({ empty: true })
  await migrate(url, { upTo: withoutKinds })
  const sql = connect(url)
  await fillOldQueue(sql)

  await migrate(url)
  await insertJob(sql, 3, "waiting")

  const jobs = await sql`select state, review_kind from review_jobs order by state`
  expect([...jobs]).toEqual([
    { state: "running", review_kind: "diff" },
    { state: "succeeded", review_kind: "diff" },
    { state: "waiting", review_kind: "diff" },
    { state: "waiting", review_kind: "diff" },
  ])
})

test("gives fences that stand above all that were given before they came from a sequence", async () => {
  const { url } = await freshDatabase({ empty: true })
  await migrate(url, { upTo: "20261130120850_indexes_for_one_use.sql" })
  const sql = connect(url)
  await fillOldQueue(sql)
  await sql`update pull_requests set fence = 7 where number = 2`

  await migrate(url)

  expect([...(await sql`select nextval('review_fences')::int as fence`)]).toEqual([{ fence: 8 }])
})

test("lets sessions go on that settle attempts while the types of words change", async () => {
  const { url } = await freshDatabase({ empty: true })
  await migrate(url, { upTo: "20261130120500_runner_fleet.sql" })
  const sql = connect(url)
  await fillOldQueue(sql)
  await sql`update projects set settings = '{"active": true}'`
  const sessions = Array.from({ length: 3 }, () => postgres(url, { max: 1, onnotice: () => {} }))
  onTestFinished(async () => void (await Promise.all(sessions.map((session) => session.end()))))
  const settle = async (session: postgres.Sql) => {
    await session`
      update review_jobs j set state = 'running', failures = 0, lease_token_hash = '', lease_expires_at = now() - interval '1 hour'
      from pull_requests q where q.id = j.pull_request_id and q.number = 2`
    await session`select from expire_review_leases()`
  }
  for (const session of sessions) await settle(session)
  let migrated = false
  const work = async (session: postgres.Sql) => {
    for (let turns = 0; turns < 20; turns += Number(migrated)) await settle(session)
  }
  const upgrade = migrate(url).then(() => {
    migrated = true
  })

  await Promise.all([upgrade, ...sessions.map(work)])

  expect(await sql`select from review_jobs where state = 'waiting'`).toHaveLength(2)
})

test("makes types of words without writing the large tables anew", async () => {
  const { url } = await freshDatabase({ empty: true })
  await migrate(url, { upTo: "20261130120800_lean_claims.sql" })
  const sql = connect(url)
  await fillOldQueue(sql)
  const files = () => sql`select relname, pg_relation_filenode(oid) as file from pg_class
    where relname in ('review_jobs', 'review_runs', 'webhook_deliveries') order by 1`
  const before = await files()

  await migrate(url)

  expect([...(await files())]).toEqual([...before])
  await expect(insertJob(sql, 3, "dreaming")).rejects.toMatchObject({ code: "23514", constraint_name: "review_job_state_check" })
  await expect(sql`update review_jobs set finished_at = null where state = 'succeeded'`).rejects.toMatchObject({
    code: "23514",
    constraint_name: "review_jobs_whole",
  })
})

// R-KIND-5
test("changes what is unique: a running head may wait again under another kind, but still only once", async () => {
  const { url } = await freshDatabase({ empty: true })
  await migrate(url, { upTo: withoutKinds })
  const sql = connect(url)
  await fillOldQueue(sql)
  const unique = { code: "23505" }
  await expect(insertJob(sql, 2, "waiting")).rejects.toMatchObject({ ...unique, constraint_name: "review_jobs_one_per_head" })

  await migrate(url)
  await insertJob(sql, 2, "waiting", "dynamic")

  await expect(insertJob(sql, 2, "waiting")).rejects.toMatchObject({ ...unique, constraint_name: "review_jobs_one_waiting" })
  await expect(insertJob(sql, 2, "publishing")).rejects.toMatchObject({ ...unique, constraint_name: "review_jobs_one_busy" })
})

test("has no index that would let the planner walk all waiting jobs for a kind with none", async () => {
  const sql = connect((await freshDatabase()).url)
  const indexes = await sql<{ name: string; columns: string }[]>`
    select indexname as name, substring(indexdef from '[(]([^()]*)[)] WHERE') as columns from pg_indexes
    where tablename = 'review_jobs' and indexdef like '%WHERE (%state%= ''waiting''%' order by 1`
  expect([...indexes]).toEqual([
    { name: "review_jobs_claimable", columns: "workspace_id, review_kind, priority DESC, run_after" },
    { name: "review_jobs_one_waiting", columns: "pull_request_id" },
  ])
})

// F45
test("lets two servers migrate at once and finds nothing to do afterwards", async () => {
  const { url } = await freshDatabase({ empty: true })
  const applied = await Promise.all([migrate(url), migrate(url)])

  expect(applied.map(({ length }) => length).toSorted()).toEqual([0, (await readdir(migrations)).length])
  expect(await migrate(url)).toEqual([])
})

// F45
test("refuses to start on a database that is older than the server", async () => {
  const { url } = await freshDatabase({ empty: true })
  await expect(assertSchema(url)).rejects.toMatchObject({ code: "schema_too_old" })
  await migrate(url, { upTo: withoutKinds })
  await expect(assertSchema(url)).rejects.toMatchObject({ code: "schema_too_old" })
  await migrate(url)
  await assertSchema(url)
})

test("starts on a database that a newer server has migrated", async () => {
  const { url } = await freshDatabase()
  const directory = await copiedMigrations()
  await writeFile(join(directory, "29990101000000_newer.sql"), "create table from_the_future (id integer)")
  await migrate(url, { directory })

  await assertSchema(url)
})

// R-DATA-2
test("refuses a migration that was changed after it had been applied", async () => {
  const { url } = await freshDatabase()
  const directory = await copiedMigrations()
  await writeFile(join(directory, withoutKinds), "select 1")

  await expect(migrate(url, { directory })).rejects.toMatchObject({ code: "config_invalid" })
})

// R-DATA-2
test("leaves nothing of a migration that fails in the middle", async () => {
  const { url } = await freshDatabase()
  const directory = await copiedMigrations()
  await writeFile(join(directory, "29990101000000_broken.sql"), "create table half (id integer); select 1 / 0;")

  await expect(migrate(url, { directory })).rejects.toThrow()

  const [half] = await connect(url)`select to_regclass('half') as name`
  expect(half).toEqual({ name: null })
})

test("describes to drizzle exactly the columns that the migrations make", async () => {
  const sql = connect((await freshDatabase()).url)
  const live = await sql<{ name: string }[]>`
    select table_name || '.' || column_name || ' ' || data_type || case is_nullable when 'NO' then ' not null' else '' end as name
    from information_schema.columns where table_schema = 'public' and table_name <> 'schema_migrations'`
  // Read as text by drizzle, because a Date cannot hold -infinity.
  const expected = describeSchema().map((line) => line.replace("last_claimed_at text", "last_claimed_at timestamp with time zone"))

  expect(expected.toSorted()).toEqual(live.map(({ name }) => name).toSorted())
})

test("copies the template for each test, so that tests share nothing", async () => {
  const [first, second] = [await freshDatabase(), await freshDatabase()]
  expect(new Set([first.url, second.url, inject("adminUrl")]).size).toBe(3)
  await connect(first.url)`insert into workspaces (id, slug, name) values (gen_random_uuid(), 'one', 'One')`
  const [count] = await connect(second.url)`select count(*)::int as n from workspaces`
  expect(count).toEqual({ n: 0 })
})

test("brings the options of queues up to date that an earlier version made", async () => {
  const { url } = await freshDatabase()
  const sql = connect(url)
  const retries = async () =>
    (await sql`select distinct retry_limit as n from pgboss.queue where dead_letter is not null`).map(({ n }) => n)
  const wanted = await retries()
  await sql`update pgboss.queue set retry_limit = 1 where dead_letter is not null`
  await migrate(url)
  expect(await retries()).toEqual(wanted)
})
