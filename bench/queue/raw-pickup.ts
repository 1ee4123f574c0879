import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import postgres from "postgres"
import { BENCH_SECRET, makeDeliveries } from "../intake/deliveries.ts"
import { openConnection } from "../intake/keep-alive-client.ts"
import { startServer } from "../rig/start-server.ts"
import type { Pickup, Stops } from "./pickup.ts"

/** The physical limit of the same way, through a server of its own; see `serve-raw-pickup.ts`. */
export async function openRawPickup(url: string, stops: Stops): Promise<Pickup> {
  const directory = await mkdtemp(join(tmpdir(), "galley-bench-raw-pickup-"))
  stops.push(() => rm(directory, { recursive: true, force: true }))
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  await sql`
    create table jobs (
      id uuid primary key, state smallint not null default 0, queued_at timestamptz not null default now(), lease_until timestamptz,
      fence integer not null default 0, pull_request integer not null, head_sha text not null) with (fillfactor = 70)`
  await sql`create index jobs_waiting on jobs (queued_at) where state = 0`
  await sql.end()
  const program = new URL("./serve-raw-pickup.ts", import.meta.url).pathname
  const environment = (port: number) => ({ PORT: String(port), SECRET: BENCH_SECRET, URL: url })
  const server = await startServer([program], environment, join(directory, "raw.log"))
  stops.push(server.stop)
  const deliveries = makeDeliveries("/", 1)
  const hook = await openConnection(server.port)
  stops.push(async () => hook.close())
  return {
    wait: async () => {
      const answer = await fetch(`http://127.0.0.1:${server.port}/leases`, { method: "POST", body: "{}" })
      if (answer.status !== 200) throw new Error(`a poll was answered with ${answer.status}`)
      await answer.json()
      return performance.now()
    },
    send: () => hook.send(...deliveries.next()),
    end: async () => {},
  }
}
