import { randomUUID } from "node:crypto"
import { noUsage } from "@galley/contract/usage"
import postgres from "postgres"
import { expect, onTestFinished, test } from "vitest"
import { leaseRequest } from "../integration/review-fixture.ts"
import { deliver, type IntakeRig, type IntakeRigOptions, payload, type ServerProcess, startIntakeRig, until } from "./intake-rig.ts"
import { protocolRunner } from "./protocol-runner.ts"

async function startRig(options: IntakeRigOptions = {}): Promise<{ rig: IntakeRig; server: ServerProcess }> {
  const rig = await startIntakeRig(options)
  onTestFinished(() => rig.stop())
  const server = await rig.startServer()
  return { rig, server }
}

/** Deliveries sent one after the other, each noted by what its sender was told. */
async function deliverPings(server: ServerProcess) {
  const ping = await payload("ping")
  const taken: string[] = []
  const refused: string[] = []
  return {
    taken,
    refused,
    async send(id: string = randomUUID()) {
      const { status, body } = await deliver(server, "ping", ping, id)
      if (status === 202) return taken.push(id)
      expect({ status, body }).toMatchObject({ status: 503, body: { error: { code: "intake_store_unavailable" } } })
      return refused.push(id)
    },
  }
}

const stored = async ({ sql }: IntakeRig, ids: readonly string[]) =>
  (await sql`select from webhook_deliveries where delivery_id = any(${[...ids]})`).length
const isReady = async (server: ServerProcess) => (await fetch(`${server.url}/health/ready`)).status === 200

// F5
test("says 503 while the disk is full, keeps nothing of what it refused, and goes on by itself when there is room", async () => {
  const { rig, server } = await startRig({ diskMiB: 256 })
  const pings = await deliverPings(server)
  const makeRoom = await rig.fillDisk()
  // What is left of pages that have begun still takes some.
  while (pings.refused.length < 20) await pings.send()
  expect(await stored(rig, pings.taken)).toBe(pings.taken.length)
  expect(await stored(rig, pings.refused)).toBe(0)

  await makeRoom()
  const again = pings.refused.splice(0)
  for (const id of again) await pings.send(id)
  expect(pings.refused).toEqual([])
  expect(await stored(rig, again)).toBe(again.length)
  expect(await isReady(server)).toBe(true)
})

// F5
test("acknowledges nothing that is lost when a full disk stops Postgres in the middle of commits, and goes on once it is back", async () => {
  const { rig, server } = await startRig({ diskMiB: 256 })
  const pings = await deliverPings(server)
  await pings.send()
  const makeRoom = await rig.fillDisk()
  // Fills its log and nothing else, until Postgres gives up and stays away.
  const away = until(() =>
    rig.sql`select pg_logical_emit_message(false, 'fill', repeat('x', 200000))`.then(
      () => false,
      ({ code }: { code: string }) => code === "ECONNREFUSED",
    ),
  )
  while (pings.refused.length < 20) await pings.send()
  await away

  await makeRoom()
  await rig.startPostgres()
  await until(() => isReady(server))
  expect(await stored(rig, pings.taken)).toBe(pings.taken.length)
  // One whose commit came through before its answer is known as a repetition.
  const again = pings.refused.splice(0)
  for (const id of again) await pings.send(id)
  expect(pings.refused).toEqual([])
  expect(await stored(rig, again)).toBe(again.length)
})

/** Lets every claim stop in its middle, where the job is taken and the run is not yet made, for as long as `held` lasts. */
async function holdClaims({ sql, databaseUrl }: IntakeRig) {
  await sql.unsafe(`
    create function hold_claim() returns trigger language plpgsql as $$ begin perform pg_advisory_xact_lock_shared(4711); return new; end $$;
    create trigger hold_claim before insert on review_runs for each row execute function hold_claim()`)
  const holder = postgres(databaseUrl, { max: 1, onnotice: () => {} })
  onTestFinished(() => holder.end({ timeout: 1 }))
  await holder`select pg_advisory_lock(4711)`
}

const claimsUnderWay = ({ sql }: IntakeRig) => sql<{ pid: number }[]>`
  select pid from pg_stat_activity where application_name = 'galley-server' and wait_event = 'advisory' and query ilike '%claim_review_jobs%'`

const deaths: [string, (rig: IntakeRig, claim: number) => Promise<unknown>][] = [
  ["its connection of Postgres, and with it all others,", async (_, claim) => process.kill(claim, "SIGKILL")],
  ["the whole of Postgres", (rig) => rig.signalPostgres("SIGKILL").then(rig.startPostgres)],
]

// F10
test.each(deaths)("gives a job out once when %s is killed in the middle of its claim, and goes on without a restart", async (_, kill) => {
  const { rig, server } = await startRig()
  await rig.openPullRequests(server, 1)
  const runner = protocolRunner(rig.runnerToken)
  await holdClaims(rig)
  const request = leaseRequest({ waitMs: 0 })
  const cut = runner.poll(server, request).catch((error: unknown) => error)
  await until(async () => (await claimsUnderWay(rig)).length === 1)
  const [claim] = await claimsUnderWay(rig)
  await kill(rig, claim?.pid ?? 0)
  expect(await cut).toBeInstanceOf(Error)

  // Asked again as a runner does: the same request, until there is an answer.
  let lease: Awaited<ReturnType<typeof runner.poll>> = null
  await until(async () => {
    lease = await runner.poll(server, request).catch(() => null)
    return lease !== null
  })
  expect(lease).toMatchObject({ attempt: 1 })
  expect(await runner.poll(server)).toBeNull()
  const jobs = await rig.sql`
    select j.state, j.lease_expires_at > now() as leased, (select count(*)::int from review_runs) as runs from review_jobs j`
  expect([...jobs]).toEqual([{ state: "running", leased: true, runs: 1 }])
  expect(await isReady(server)).toBe(true)
})

// F10
test("keeps every lease that a runner was told of when Postgres is killed at once", async () => {
  const { rig, server } = await startRig()
  await rig.openPullRequests(server, 3)
  const runner = protocolRunner(rig.runnerToken)
  const leases = await Promise.all([1, 2, 3].map(() => runner.poll(server, leaseRequest({ waitMs: 10_000 }))))
  await rig.signalPostgres("SIGKILL")
  await rig.startPostgres()
  await until(() => isReady(server))

  for (const lease of leases) {
    if (lease === null) throw new Error("three jobs wait")
    const beat = await runner.on(server, lease, "heartbeat", { phase: "reviewing", progress: "", usage: noUsage })
    expect(beat.status).toBe(200)
  }
  expect(await runner.poll(server)).toBeNull()
})
