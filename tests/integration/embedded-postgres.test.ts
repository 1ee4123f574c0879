import { fork } from "node:child_process"
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises"
import { connect } from "node:net"
import { networkInterfaces, tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import postgres from "postgres"
import { expect, onTestFinished, test, vi } from "vitest"
import { type RunningPostgres, startPostgres } from "../../scripts/postgres.ts"

async function dataDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "galley-embedded-"))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}

async function start(directory: string): Promise<RunningPostgres> {
  const server = await startPostgres({ dataDirectory: directory, settings: { fsync: "off" }, log: () => {} })
  onTestFinished(() => server.stop())
  return server
}

async function query<T extends postgres.Row>(url: string, text: string): Promise<T[]> {
  const sql = postgres(url, { max: 1, connect_timeout: 5 })
  try {
    return [...(await sql.unsafe<T[]>(text))]
  } finally {
    await sql.end()
  }
}

const canConnect = (host: string, port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect({ host, port, timeout: 1_000 })
    for (const event of ["error", "timeout"]) socket.on(event, () => resolve(socket.destroy() && false))
    socket.on("connect", () => resolve(Boolean(socket.destroy())))
  })

test("keeps data and password over a restart", async () => {
  const directory = await dataDirectory()
  const first = await start(directory)
  await query(first.url, "create table kept (n integer); insert into kept values (7)")
  await first.stop()

  const second = await start(directory)

  expect(new URL(second.url).password).toBe(new URL(first.url).password)
  expect(await query(second.url, "select n from kept")).toEqual([{ n: 7 }])
})

// R-SETUP-2
test("listens on loopback alone, wants its password, and never runs as root", async () => {
  const directory = await dataDirectory()
  const { url } = await start(directory)
  const { port } = new URL(url)
  const outside = Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).filter((address) => !address.internal))
  for (const { address } of outside) expect(await canConnect(address, Number(port))).toBe(false)

  const wrong = new URL(url)
  wrong.password = "guess"
  await expect(query(wrong.href, "select 1")).rejects.toMatchObject({ code: "28P01" })
  expect(await query(url, "show unix_socket_directories")).toEqual([{ unix_socket_directories: "" }])
  expect(
    await query(url, "select datcollate, pg_encoding_to_char(encoding) as encoding from pg_database where datname = 'postgres'"),
  ).toEqual([{ datcollate: "C", encoding: "UTF8" }])
  expect((await stat(join(directory, "cluster"))).uid).not.toBe(0)
  expect((await stat(join(directory, "password"))).mode & 0o077).toBe(0)
})

test("starts again on the data of a process that was killed", async () => {
  const directory = await dataDirectory()
  const script = join(directory, "..", `${directory.split("/").at(-1)}.ts`)
  onTestFinished(() => rm(script, { force: true }))
  const module = fileURLToPath(new URL("../../scripts/postgres.ts", import.meta.url))
  const options = JSON.stringify({ dataDirectory: directory, settings: { fsync: "off" } })
  await writeFile(
    script,
    `import { startPostgres } from ${JSON.stringify(module)}
    process.send((await startPostgres({ ...${options}, log: () => {} })).url)`,
  )
  const child = fork(script, { execArgv: [], stdio: "inherit" })
  const url = await new Promise<string>((resolve, reject) => {
    child.once("message", (message) => resolve(String(message)))
    child.once("exit", (code) => reject(new Error(`ended with ${code}`)))
  })
  await query(url, "create table kept (n integer); insert into kept values (7)")
  child.kill("SIGKILL")

  const again = await start(directory)

  expect(await query(again.url, "select n from kept")).toEqual([{ n: 7 }])
  await vi.waitFor(async () => expect(await canConnect("127.0.0.1", Number(new URL(url).port))).toBe(false), { timeout: 10_000 })
})
