import { randomUUID } from "node:crypto"
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createTaskRunner, type ScheduledQueue, scheduledQueues } from "@galley/store/tasks"
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest"
import { makeRepository } from "../integration/make-repository.ts"
import { type Answer, deliver, type IntakeRig, payload, type ServerProcess, startIntakeRig, until } from "./intake-rig.ts"
import { startSilentProxy } from "./silent-proxy.ts"

let rig: IntakeRig
beforeEach(async () => {
  rig = await startIntakeRig()
})
afterEach(() => rig.stop())

const jobs = async () => [...(await rig.sql<{ state: string; headSha: string }[]>`select state, head_sha as "headSha" from review_jobs`)]
const isStored = async (deliveryId: string) =>
  (await rig.sql`select from webhook_deliveries where delivery_id = ${deliveryId}`).length === 1
const statusOf = async (server: ServerProcess, path: string) => (await fetch(`${server.url}${path}`)).status

/** A recorded push with its own head and time. */
async function push(second: number): Promise<Awaited<ReturnType<typeof payload>>> {
  const body = await payload("pr.synchronize")
  body.pull_request.head.sha = second.toString(16).padStart(40, "0")
  body.pull_request.updated_at = new Date(Date.UTC(2026, 10, 30) + second * 1_000).toISOString()
  return body
}

// F1
test("loses nothing when the server dies before it stored the delivery", async () => {
  const server = await rig.startServer()
  await rig.knowTheProject(server)
  const id = randomUUID()
  await rig.sql
    .begin(async (holder) => {
      await holder`lock table webhook_deliveries in share mode`
      const answer = deliver(server, "pull_request", await payload("pr.opened"), id).catch(() => "no answer")
      const waiting = () => rig.sql<{ pid: number }[]>`
        select pid from pg_stat_activity where application_name = 'galley-server' and wait_event_type = 'Lock'`
      await until(async () => (await waiting()).length > 0)
      await server.kill("SIGKILL")
      expect(await answer).toBe("no answer")
      // The statement of a dead client would go on; a machine that dies takes it along.
      await holder`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'galley-server'`
      throw new Error("released")
    })
    .catch((error: Error) => expect(error.message).toBe("released"))
  expect([await isStored(id), await jobs()]).toEqual([false, []])

  const next = await rig.startServer()
  expect(await deliver(next, "pull_request", await payload("pr.opened"), id)).toMatchObject({ status: 202, body: { outcome: "queued" } })
  expect(await jobs()).toHaveLength(1)
})

// F2
test("queues once when the server dies after the commit and before its answer", async () => {
  const proxy = await startSilentProxy(Number(new URL(rig.databaseUrl).port))
  onTestFinished(() => proxy.close())
  const proxied = new URL(rig.databaseUrl)
  proxied.port = String(proxy.port)
  const server = await rig.startServer({ environment: { DATABASE_URL: proxied.href } })
  await rig.knowTheProject(server)
  const id = randomUUID()
  proxy.holdAnswersAfter(id)
  const answer = deliver(server, "pull_request", await payload("pr.opened"), id).catch(() => "no answer")
  await until(() => isStored(id), 4_000)
  await server.kill("SIGKILL")
  expect(await answer).toBe("no answer")

  const next = await rig.startServer()
  expect(await deliver(next, "pull_request", await payload("pr.opened"), id)).toMatchObject({ status: 202, body: { outcome: "duplicate" } })
  expect(await jobs()).toHaveLength(1)
})

/** Every delivery sent while the database is away: told to come again, in time; and the server takes deliveries again by itself. */
async function survives(server: ServerProcess, away: () => Promise<void>, back: () => Promise<void>): Promise<void> {
  await rig.knowTheProject(server)
  await away()
  const bodies = await Promise.all(Array.from({ length: 20 }, (_, second) => push(second)))
  const answers = Promise.all(bodies.map((body) => deliver(server, "pull_request", body)))
  expect(await statusOf(server, "/health/live")).toBe(200)
  const startedAt = performance.now()
  expect([await statusOf(server, "/health/ready"), await statusOf(server, "/health/reviews")]).toEqual([503, 503])
  expect(performance.now() - startedAt).toBeLessThan(8_000)
  for (const answer of await answers) {
    expect(answer).toMatchObject({ status: 503, body: { error: { code: "intake_store_unavailable" } } })
    expect(answer.ms).toBeLessThan(5_500)
  }
  await back()
  let last: Answer | null = null
  await until(async () => {
    last = await deliver(server, "pull_request", await push(30))
    return last.status === 202
  })
  expect(last).toMatchObject({ body: { outcome: "queued" } })
  await until(async () => (await statusOf(server, "/health/ready")) === 200)
  expect((await jobs()).map(({ headSha }) => headSha)).toEqual([(30).toString(16).padStart(40, "0")])
}

// F3
test("says 503 while Postgres is stopped and goes on without a restart", async () => {
  await survives(await rig.startServer(), rig.stopPostgres, rig.startPostgres)
})

// F4
test("says 503 in time while Postgres is frozen and goes on without a restart", async () => {
  await survives(
    await rig.startServer(),
    () => rig.signalPostgres("SIGSTOP"),
    () => rig.signalPostgres("SIGCONT"),
  )
})

/** Starts runs as the clock does. */
async function strike(...queues: ScheduledQueue[]): Promise<void> {
  const clock = createTaskRunner(rig.databaseUrl, { migrate: false, applicationName: "clock" })
  await clock.start()
  for (const queue of queues) await clock.send(queue, {})
  await clock.stop({ graceful: true, timeout: 5_000 })
}

// F6, R-INTAKE-13
test("reviews once what was opened during an outage, by redelivery and by comparing heads, also when a server dies over it", async () => {
  const { github } = rig
  const directory = await mkdtemp(join(tmpdir(), "galley-intake-faults-"))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const shas = makeRepository(directory, 2)
  const first = await rig.startServer()
  const connect = ({ url }: ServerProcess) => github.setWebhook({ url: `${url}/webhooks/github`, secret: rig.webhookSecret })
  connect(first)
  await github.registerRepository({ owner: "acme", name: "shop", gitDirectory: directory, installationId: 7001 })
  await rig.sql`update projects set settings = '{"active": true, "debounceSeconds": 0}'`
  await first.kill("SIGKILL")
  const open = (number: number) =>
    github.openPullRequest({ repo: "acme/shop", number, baseSha: shas[0] ?? "", headSha: shas[1] ?? "", headRef: `change-${number}` })
  for (const number of [1, 2, 3]) await open(number)
  // GitHub's list has no trace of this one.
  github.dropWebhooks({ listed: false })
  await open(4)

  github.addFault({ path: "/app/hook/deliveries", effect: { kind: "hang" } })
  const second = await rig.startServer()
  connect(second)
  await strike(scheduledQueues.reconcileDeliveries)
  await until(() => github.requests().some(({ path }) => path.includes("/app/hook/deliveries")))
  await second.kill("SIGKILL")

  const third = await rig.startServer()
  connect(third)
  // What pg-boss does by itself once the run of the dead server has expired.
  await rig.sql`update pgboss.job set state = 'failed' where name = ${scheduledQueues.reconcileDeliveries} and state = 'active'`
  await strike(scheduledQueues.reconcileDeliveries, scheduledQueues.reconcileHeads)
  const delivered = () => rig.sql`select from webhook_deliveries where event = 'pull_request'`
  await until(async () => (await delivered()).length === 3 && (await jobs()).length === 4)
  await github.idle()

  const perPullRequest = await rig.sql`
    select q.number, count(*)::int as jobs from review_jobs j join pull_requests q on q.id = j.pull_request_id group by 1 order by 1`
  expect([...perPullRequest]).toEqual([1, 2, 3, 4].map((number) => ({ number, jobs: 1 })))
})

// F7
test("queues one job for fifty copies of a delivery at two servers", async () => {
  const servers = await Promise.all([rig.startServer(), rig.startServer()])
  const [first, second] = servers
  await rig.knowTheProject(first)
  const body = await payload("pr.opened")
  const id = randomUUID()
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, copy) => deliver(copy % 2 === 0 ? first : second, "pull_request", body, id)),
  )

  expect(answers.filter(({ status }) => status !== 202)).toEqual([])
  expect(answers.filter(({ body: { outcome } }) => outcome === "queued")).toHaveLength(1)
  expect(await jobs()).toHaveLength(1)
})

// F8, F9
test("keeps one waiting job at the newest head of two hundred pushes, in whatever order they and the opening come", async () => {
  const servers = await Promise.all([rig.startServer(), rig.startServer()])
  await rig.knowTheProject(servers[0])
  const bodies = await Promise.all(Array.from({ length: 200 }, (_, second) => push(second)))
  const shuffled = bodies.map((body, place) => ({ body, place: (place * 73) % 200 })).toSorted((a, b) => a.place - b.place)
  const answers = await Promise.all(shuffled.map(({ body }, turn) => deliver(servers[turn % 2 === 0 ? 0 : 1], "pull_request", body)))
  const opened = await deliver(servers[1], "pull_request", await payload("pr.opened"))

  expect(answers.filter(({ status }) => status !== 202)).toEqual([])
  expect(opened.body).toMatchObject({ outcome: "ignored", reason: "overtaken" })
  expect(await jobs()).toEqual([{ state: "waiting", headSha: (199).toString(16).padStart(40, "0") }])
  const [job] = await rig.sql`select run_after <= first_queued_at + interval '300 s' as bounded from review_jobs`
  expect(job).toEqual({ bounded: true })
})

// F43
test("answers no 5xx while a server is replaced under load, lets runners go and ends in time", async () => {
  const [old, next] = await Promise.all([rig.startServer(), rig.startServer()])
  await rig.knowTheProject(old)
  const ping = await payload("ping")
  const acknowledged: string[] = []
  const refused: number[] = []
  let target = old
  let stopping = false
  const lane = async () => {
    while (!stopping) {
      const id = randomUUID()
      try {
        const { status } = await deliver(target, "ping", ping, id)
        if (status === 202) acknowledged.push(id)
        else refused.push(status)
      } catch {
        // The listener is gone: whoever balances the load turns to the other server.
        target = next
      }
    }
  }
  const lanes = Promise.all(Array.from({ length: 8 }, lane))
  const request = {
    requestId: randomUUID(),
    runnerName: "r",
    runnerVersion: "0.1.0",
    freeSlots: 1,
    waitMs: 25_000,
    capabilities: [
      {
        kind: "diff",
        engineVersion: "1",
        boundary: "enforced",
        checkedAt: new Date().toISOString(),
        expiresAt: new Date(Date.now() + 600_000).toISOString(),
      },
    ],
  }
  const poll = fetch(`${old.url}/runner/v1/leases`, {
    method: "POST",
    body: JSON.stringify(request),
    headers: { authorization: `Bearer ${rig.runnerToken}`, "content-type": "application/json" },
  })
  await until(() => acknowledged.length > 100)
  const startedAt = performance.now()
  expect(await old.kill("SIGTERM")).toBe(0)
  expect(performance.now() - startedAt).toBeLessThan(10_000)
  expect((await poll).status).toBe(204)
  const soFar = acknowledged.length
  await until(() => acknowledged.length > soFar + 100)
  stopping = true
  await lanes

  expect(refused).toEqual([])
  const [stored] = await rig.sql`select count(*)::int as n from webhook_deliveries where delivery_id = any(${acknowledged})`
  expect(stored).toEqual({ n: acknowledged.length })
})

// F45
test("works on a newer schema and refuses an older one; two migrations at once do the work once", async () => {
  const directory = await mkdtemp(join(tmpdir(), "galley-newer-"))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  await cp(new URL("../../migrations", import.meta.url), directory, { recursive: true })
  await writeFile(join(directory, "29990101000000_newer.sql"), "create table from_the_future (id integer)")
  const newer = { GALLEY_MIGRATIONS_DIRECTORY: directory }

  const tooNew = await rig.startServer({ environment: newer, ready: false })
  expect(await tooNew.ended).toBe(1)
  expect(tooNew.lines.join()).toContain('"code":"schema_too_old"')

  const migrations = await Promise.all([1, 2].map(() => rig.startServer({ environment: newer, ready: false, command: "migrate" })))
  expect(await Promise.all(migrations.map(({ ended }) => ended))).toEqual([0, 0])
  expect(migrations.filter(({ lines }) => lines.join().includes("29990101000000_newer"))).toHaveLength(1)

  const server = await rig.startServer()
  await rig.knowTheProject(server)
  expect(await deliver(server, "pull_request", await payload("pr.opened"))).toMatchObject({ status: 202, body: { outcome: "queued" } })
})
