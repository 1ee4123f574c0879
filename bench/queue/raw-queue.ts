import postgres from "postgres"
import { type Contender, JOB_DATA, POOL } from "./contender.ts"

/** The physical limit: one table, one partial index, one statement each to queue, take and complete. */
export async function openRawQueue(url: string): Promise<Contender> {
  const sql = postgres(url, { max: POOL, onnotice: () => {} })
  await sql`
    create table jobs (
      id bigint generated always as identity primary key, state smallint not null default 0, queued_at timestamptz not null default now(),
      lease_until timestamptz, fence integer not null default 0, data jsonb not null) with (fillfactor = 70)`
  await sql`create index jobs_waiting on jobs (queued_at) where state = 0`
  return {
    enqueue: async () => {
      await sql`insert into jobs (data) values (${sql.json(JOB_DATA)})`
    },
    cycle: async () => {
      const [job] = await sql<[{ id: string; fence: number; data: unknown }?]>`
        update jobs set state = 1, fence = fence + 1, lease_until = now() + interval '1 minute'
        where id = (select id from jobs where state = 0 order by queued_at limit 1 for update skip locked) returning id, fence, data`
      if (job === undefined) return false
      await sql`update jobs set state = 2, lease_until = null where id = ${job.id} and fence = ${job.fence} and state = 1`
      return true
    },
    fill: async (jobs) => {
      await sql`insert into jobs (data) select ${sql.json(JOB_DATA)} from generate_series(1, ${jobs}::int)`
    },
    analyze: async () => {
      await sql`vacuum analyze jobs`
    },
    close: () => sql.end(),
  }
}
