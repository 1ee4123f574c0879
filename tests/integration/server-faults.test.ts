import { once } from "node:events"
import { cpSync, mkdtempSync, rmSync } from "node:fs"
import { connect, createServer, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { freshDatabase } from "./database.ts"
import { type ReviewServer, startReviewServer, until } from "./review-fixture.ts"

type Line = Readonly<{
  url: string
  /** Breaks every connection and refuses new ones. */
  cut(): void
  /** Keeps connections open and passes nothing on. */
  freeze(): void
  /** Keeps the connection that carries wake-ups open and passes nothing of it on. */
  silenceWakeUps(): void
  restore(): void
}>

/** A line to a database of its own that can be cut and frozen. */
async function databaseLine(): Promise<Line> {
  const url = new URL((await freshDatabase()).url)
  const target = { port: Number(url.port), host: url.hostname }
  const sockets = new Set<Socket>()
  const listening = new Set<Socket>()
  let state: "open" | "cut" | "frozen" = "open"
  const listener = createServer((client) => {
    if (state === "cut") return void client.destroy()
    const database = connect(target)
    client.on("data", (bytes) => {
      if (bytes.includes("listen ")) listening.add(database)
    })
    for (const [from, to] of [
      [client, database],
      [database, client],
    ] as const) {
      sockets.add(from)
      from.on("data", (bytes) => to.write(bytes))
      from.on("error", () => to.destroy())
      from.on("close", () => {
        sockets.delete(from)
        to.destroy()
      })
      if (state === "frozen") from.pause()
    }
  })
  listener.listen(0, "127.0.0.1")
  await once(listener, "listening")
  const address = listener.address()
  if (address === null || typeof address === "string") throw new Error("no port")
  url.port = String(address.port)
  const destroyAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  onTestFinished(() => {
    destroyAll()
    listener.close()
  })
  return {
    url: url.href,
    cut() {
      state = "cut"
      destroyAll()
    },
    freeze() {
      state = "frozen"
      for (const socket of sockets) socket.pause()
    },
    silenceWakeUps() {
      if (listening.size === 0) throw new Error("nobody listens")
      for (const socket of listening) socket.pause()
    },
    restore() {
      state = "open"
      for (const socket of sockets) socket.resume()
    },
  }
}

async function behindLine(): Promise<{ server: ReviewServer; line: Line }> {
  const line = await databaseLine()
  return { line, server: await startReviewServer({ DATABASE_URL: line.url }) }
}

const ping = (server: ReviewServer, headers = {}) => server.deliver("ping", { zen: "z" }, headers)

// F3
test("tells GitHub to come again while the database is gone, and takes deliveries again without a restart", async () => {
  const { server, line } = await behindLine()
  line.cut()
  const started = performance.now()
  const answer = await ping(server)
  expect(performance.now() - started).toBeLessThan(3_000)
  expect(answer.status).toBe(503)
  expect(await answer.json()).toMatchObject({ error: { code: "intake_store_unavailable" } })
  expect((await server.app.request("/health/live")).status).toBe(200)
  expect((await server.app.request("/health/ready")).status).toBe(503)
  line.restore()
  await until(
    async () => (await ping(server)).status,
    (status) => status === 202,
  )
})

// F4
test("tells GitHub to come again well before its ten seconds when the database is frozen, and never takes a delivery twice", async () => {
  const { server, line } = await behindLine()
  const headers = { "x-github-delivery": "11111111-2222-4333-8444-555555555555" }
  line.freeze()
  const started = performance.now()
  expect((await ping(server, headers)).status).toBe(503)
  expect(performance.now() - started).toBeLessThan(5_500)
  expect((await server.app.request("/health/live")).status).toBe(200)
  line.restore()
  await until(
    async () => (await ping(server, headers)).status,
    (status) => status === 202,
  )
  const taken = await server.context.store.sql`select 1 from webhook_deliveries where delivery_id = ${headers["x-github-delivery"]}`
  expect(taken).toHaveLength(1)
})

// F14, F15
test("still hands out jobs when the connection that carries wake-ups was killed", async () => {
  const server = await startReviewServer()
  const { sql } = server.context.store
  const polled = server.poll({ waitMs: 20_000 })
  await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query ilike 'listen%'`
  await server.openPullRequest()
  expect(await polled).toMatchObject({ attempt: 1 })
})

// F14
test("still hands out jobs when the connection that carries wake-ups is open and dead", async () => {
  const { server, line } = await behindLine()
  line.silenceWakeUps()
  const polled = server.poll({ waitMs: 20_000 })
  await server.openPullRequest()
  const lease = await polled
  line.restore()
  expect(lease).toMatchObject({ attempt: 1 })
})

// F15
test("finds a job that nobody announced by its own slow look", async () => {
  const server = await startReviewServer()
  await server.openPullRequest()
  await server.context.store.sql`update review_jobs set run_after = now() + interval '1 hour'`
  const polled = server.poll({ waitMs: 20_000 })
  await server.context.store.sql`update review_jobs set run_after = now()`
  expect(await polled).toMatchObject({ attempt: 1 })
})

test("stays ready on connections it has, and reads no migration again after its start", async () => {
  const directory = mkdtempSync(join(tmpdir(), "galley-migrations-"))
  cpSync(new URL("../../migrations", import.meta.url), directory, { recursive: true })
  const server = await startReviewServer({ GALLEY_MIGRATIONS_DIRECTORY: directory })
  rmSync(directory, { recursive: true })
  expect((await server.app.request("/health/ready")).status).toBe(200)
  await server.context.store.sql`update schema_migrations set checksum = 'another'`
  expect((await server.app.request("/health/ready")).status).toBe(503)
})
