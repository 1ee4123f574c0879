import { type ChildProcess, spawn } from "node:child_process"
import { createHmac, randomBytes, randomUUID } from "node:crypto"
import { once } from "node:events"
import { chmod, mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { type FakeGitHub, type FakeGitHubOptions, startFakeGitHub } from "@galley/fake-github"
import postgres, { type Sql } from "postgres"
import { startPostgres } from "../../scripts/postgres.ts"

const root = new URL("../..", import.meta.url).pathname
const SECRET = "webhook secret of the fault tests"
const fixtures = join(root, "packages/github/src/fixtures/webhooks")

export type Payload = ReturnType<typeof JSON.parse>

/** A recorded payload, fresh to be changed. */
export const payload = async (file: string): Promise<Payload> => JSON.parse(await readFile(join(fixtures, `${file}.json`), "utf8"))

/** One server as a process of its own. */
export type ServerProcess = Readonly<{
  url: string
  pid: number
  /** Lines of its log. */
  lines: readonly string[]
  /** Exit status, or the signal that ended it. */
  ended: Promise<number | string>
  kill(signal: NodeJS.Signals): Promise<number | string>
}>

export type Answer = Readonly<{ status: number; body: Payload; ms: number }>

/** A Postgres of its own, a fake GitHub and any number of server processes. */
export type IntakeRig = Readonly<{
  databaseUrl: string
  github: FakeGitHub
  webhookSecret: string
  runnerToken: string
  /** Reconnects by itself after an outage. */
  sql: Sql
  /** Runs the server's program; `ready` false: without waiting until it listens. */
  startServer(options?: { environment?: Record<string, string>; ready?: boolean; command?: string }): Promise<ServerProcess>
  stopPostgres(): Promise<void>
  startPostgres(): Promise<void>
  /** Freezes or thaws Postgres with all of its processes. */
  signalPostgres(signal: "SIGSTOP" | "SIGCONT"): Promise<void>
  /** Makes installation and repository of the recorded pull requests known, and the project active. */
  knowTheProject(server: ServerProcess): Promise<void>
  stop(): Promise<void>
}>

/** Sends a signed delivery. Rejects when the connection breaks. */
export async function deliver(server: { url: string }, event: string, body: Payload, deliveryId: string = randomUUID()): Promise<Answer> {
  const text = JSON.stringify(body)
  const startedAt = performance.now()
  const answer = await fetch(`${server.url}/webhooks/github`, {
    method: "POST",
    body: text,
    headers: {
      "content-type": "application/json",
      "x-github-event": event,
      "x-github-delivery": deliveryId,
      "x-hub-signature-256": `sha256=${createHmac("sha256", SECRET).update(text).digest("hex")}`,
    },
  })
  return { status: answer.status, body: await answer.json(), ms: performance.now() - startedAt }
}

export type IntakeRigOptions = Readonly<{
  github?: FakeGitHubOptions
  /** A bundled server, which starts faster than its sources. */
  bundle?: string
}>

/** Starts everything but servers. When a step fails, what was started is stopped. */
export async function startIntakeRig(options: IntakeRigOptions = {}): Promise<IntakeRig> {
  const stops: (() => Promise<unknown>)[] = []
  const stop = async () => {
    for (const step of stops.splice(0).reverse()) await step()
  }
  try {
    return { ...(await start(options, stops)), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function start(options: IntakeRigOptions, stops: (() => Promise<unknown>)[]): Promise<Omit<IntakeRig, "stop">> {
  const directory = await mkdtemp(join(tmpdir(), "galley-intake-"))
  stops.push(() => rm(directory, { recursive: true, force: true }))
  await chmod(directory, 0o755)
  const data = join(directory, "postgres")
  const port = await freePort()
  const cluster = () => startPostgres({ dataDirectory: data, port, log: () => undefined })
  let running = await cluster()
  stops.push(() => running.stop())
  const signal = (name: "SIGSTOP" | "SIGCONT") => signalTree(join(data, "cluster", "postmaster.pid"), name)
  stops.push(() => signal("SIGCONT").catch(() => undefined))
  const sql = postgres(running.url, { max: 2, onnotice: () => {} })
  stops.push(() => sql.end({ timeout: 5 }))
  const github = await startFakeGitHub({ appId: 77, ...options.github })
  stops.push(() => github.close())

  const runnerToken = randomBytes(24).toString("hex")
  const common = {
    PATH: process.env.PATH ?? "",
    DATABASE_URL: running.url,
    GALLEY_MASTER_KEY: randomBytes(32).toString("base64"),
    GALLEY_RUNNER_TOKEN: runnerToken,
    GALLEY_MIGRATIONS_DIRECTORY: join(root, "migrations"),
    GITHUB_URL: github.url,
    GITHUB_API_URL: github.apiUrl,
    GITHUB_APP_ID: "77",
    GITHUB_PRIVATE_KEY: github.privateKeyPem ?? "",
    GITHUB_WEBHOOK_SECRET: SECRET,
    MODEL_BASE_URL: "http://127.0.0.1:9/v1",
    MODEL_API_KEY: "model key",
    MODEL: "some-model",
  }
  const startServer: IntakeRig["startServer"] = async ({ environment = {}, ready = true, command = "run" } = {}) => {
    const listenPort = await freePort()
    const url = `http://127.0.0.1:${listenPort}`
    const env = { ...common, GALLEY_PUBLIC_URL: url, GALLEY_LISTEN_PORT: String(listenPort), ...environment }
    const program = options.bundle
      ? [options.bundle]
      : ["--import", join(root, "scripts/tsx-hook.ts"), join(root, "apps/server/src/main.ts")]
    const server = watch(spawn(process.execPath, [...program, command], { env, stdio: ["ignore", "pipe", "inherit"] }), url)
    stops.push(() => server.kill("SIGKILL"))
    if (ready) await Promise.race([until(() => server.lines.some((line) => line.includes('"server ready"'))), failed(server)])
    return server
  }
  await (await startServer({ command: "migrate", ready: false })).ended

  return {
    databaseUrl: running.url,
    github,
    webhookSecret: SECRET,
    runnerToken,
    sql,
    startServer,
    stopPostgres: () => running.stop(),
    startPostgres: async () => {
      running = await cluster()
    },
    signalPostgres: signal,
    async knowTheProject(server) {
      const { installation, repository } = await payload("pr.opened")
      await deliver(server, "installation", {
        action: "created",
        installation: { id: installation.id, account: { login: repository.owner.login, id: 1 } },
        repositories: [{ id: repository.id, name: repository.name, full_name: repository.full_name, private: true }],
      })
      await sql`update projects set settings = '{"active": true}'`
    },
  }
}

export function watch(child: ChildProcess, url: string): ServerProcess {
  const lines: string[] = []
  if (child.stdout === null) throw new Error("the server was started without its log")
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(line))
  const ended = once(child, "close").then(([status, signal]) => status ?? signal)
  return {
    url,
    pid: child.pid ?? 0,
    lines,
    ended,
    async kill(signal) {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal)
      return ended
    },
  }
}

async function failed(server: ServerProcess): Promise<never> {
  throw new Error(`the server ended with ${await server.ended}:\n${server.lines.slice(-10).join("\n")}`)
}

/** Waits until a condition holds; rejects after `timeoutMs`. */
export async function until(condition: () => boolean | Promise<boolean>, timeoutMs = 30_000): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`nothing came of it within ${timeoutMs} ms`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Signals a process named by a pid file, and its children. */
async function signalTree(pidFile: string, signal: NodeJS.Signals): Promise<void> {
  const parent = Number.parseInt(await readFile(pidFile, "utf8"), 10)
  process.kill(parent, signal)
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    // A process may end while it is looked at.
    const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "")
    if (Number(stat.slice(stat.lastIndexOf(")") + 4).split(" ")[0]) === parent) process.kill(Number(pid), signal)
  }
}

export async function freePort(): Promise<number> {
  const server = createServer()
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  server.close()
  await once(server, "close")
  if (address === null || typeof address === "string") throw new Error("no free port")
  return address.port
}
