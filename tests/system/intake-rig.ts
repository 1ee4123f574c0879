import { type ChildProcess, spawn } from "node:child_process"
import { createHmac, randomBytes, randomUUID } from "node:crypto"
import { once } from "node:events"
import { chmod, mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { type FakeGitHub, type FakeGitHubOptions, startFakeGitHub } from "@galley/fake-github"
import postgres, { type Sql } from "postgres"
import { noModel, serverEnvironment } from "../../scripts/demo/server-environment.ts"
import { freePort } from "../../scripts/free-port.ts"
import { startPostgres } from "../../scripts/postgres.ts"
import { makeRepository } from "../integration/make-repository.ts"
import { fillDisk, mountDisk } from "./small-disk.ts"

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

export type ServerOptions = Readonly<{
  environment?: Record<string, string>
  /** False: without waiting until it listens. */
  ready?: boolean
  command?: string
  nodeArguments?: readonly string[]
}>

/** A Postgres of its own, a fake GitHub and any number of server processes. */
export type IntakeRig = Readonly<{
  databaseUrl: string
  github: FakeGitHub
  webhookSecret: string
  runnerToken: string
  /** Reconnects by itself after an outage. */
  sql: Sql
  /** Runs the server's program. */
  startServer(options?: ServerOptions): Promise<ServerProcess>
  stopPostgres(): Promise<void>
  startPostgres(): Promise<void>
  /** Freezes, thaws or kills Postgres with all of its processes. */
  signalPostgres(signal: "SIGSTOP" | "SIGCONT" | "SIGKILL"): Promise<void>
  /** Takes the last byte of the disk of its own that Postgres has. @returns gives it back */
  fillDisk(): Promise<() => Promise<void>>
  /** Makes a repository on the fake GitHub an active project, `acme/shop`, and opens so many pull requests, each with a job that is due. */
  openPullRequests(server: ServerProcess, count: number): Promise<void>
  /** Makes installation and repository of the recorded pull requests known, and the project active. */
  knowTheProject(server: ServerProcess): Promise<void>
  /** Throws when a log of its servers tells a secret. */
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
  /** Size of a disk for Postgres alone, which can be filled. Needs root. */
  diskMiB?: number
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
  const lines: string[] = []
  const secrets: string[] = []
  stops.push(async () => assertNoSecret(lines, secrets))
  const directory = await mkdtemp(join(tmpdir(), "galley-intake-"))
  stops.push(() => rm(directory, { recursive: true, force: true }))
  await chmod(directory, 0o755)
  const data = join(directory, "postgres")
  if (options.diskMiB !== undefined) stops.push(await mountDisk(data, options.diskMiB))
  const port = await freePort()
  const cluster = () => startPostgres({ dataDirectory: data, port, log: () => undefined })
  let running = await cluster()
  stops.push(() => running.stop())
  const signal = (name: "SIGSTOP" | "SIGCONT" | "SIGKILL") => signalTree(join(data, "cluster", "postmaster.pid"), name)
  stops.push(() => signal("SIGCONT").catch(() => undefined))
  const sql = postgres(running.url, { max: 2, onnotice: () => {} })
  stops.push(() => sql.end({ timeout: 5 }))
  const github = await startFakeGitHub(options.github)
  stops.push(() => github.close())

  const runnerToken = randomBytes(24).toString("hex")
  const masterKey = randomBytes(32).toString("base64")
  const model = { ...noModel, apiKey: randomBytes(24).toString("hex") }
  const [, keyLine = ""] = (github.privateKeyPem ?? "").split("\n")
  secrets.push(SECRET, runnerToken, masterKey, model.apiKey, keyLine, new URL(running.url).password)
  const sources = ["--import", join(root, "scripts/tsx-hook.ts"), join(root, "apps/server/src/main.ts")]
  const program = options.bundle === undefined ? sources : [options.bundle]
  const startServer: IntakeRig["startServer"] = async ({ environment = {}, ready = true, command = "run", nodeArguments = [] } = {}) => {
    const listenPort = await freePort()
    const url = `http://127.0.0.1:${listenPort}`
    const facts = { databaseUrl: running.url, port: listenPort, github, model, masterKey, webhookSecret: SECRET, runnerToken }
    const env = { ...serverEnvironment(facts), GALLEY_MIGRATIONS_DIRECTORY: join(root, "migrations"), ...environment }
    const argv = [...nodeArguments, ...program, command]
    const server = watch(spawn(process.execPath, argv, { env, stdio: ["ignore", "pipe", "inherit"] }), url)
    stops.push(async () => {
      await server.kill("SIGKILL")
      for (const line of server.lines) lines.push(line)
      secrets.push(...github.state.installationTokens.keys())
    })
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
    fillDisk: () => fillDisk(data),
    async openPullRequests(server, count) {
      const gitDirectory = join(directory, "repository")
      await mkdir(gitDirectory)
      const shas = makeRepository(gitDirectory, 2)
      github.setWebhook({ url: `${server.url}/webhooks/github`, secret: SECRET })
      await github.registerRepository({ owner: "acme", name: "shop", gitDirectory, installationId: 7001 })
      await sql`update projects set settings = '{"active": true, "debounceSeconds": 0}'`
      for (let number = 1; number <= count; number++) {
        const headRef = `change-${number}`
        await github.openPullRequest({ repo: "acme/shop", number, baseSha: shas[0] ?? "", headSha: shas[1] ?? "", headRef })
      }
      await github.idle()
    },
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

/** Whatever was done to a server, its log tells no secret. */
function assertNoSecret(lines: readonly string[], secrets: readonly string[]): void {
  if (secrets.includes("")) throw new Error("a secret to look for is missing")
  const telling = lines.filter((line) => secrets.some((secret) => line.includes(secret)))
  if (telling.length > 0) throw new Error(`a log tells a secret:\n${telling.join("\n")}`)
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
  // Whoever is frozen has no further children, and keeps those it has.
  if (signal !== "SIGCONT") process.kill(parent, "SIGSTOP")
  for (const pid of [...(await childrenOf(parent)), parent]) process.kill(pid, signal)
}

async function childrenOf(parent: number): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name))
  // A process may end while it is looked at.
  const stats = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, "utf8").catch(() => "")))
  return pids.map(Number).filter((_, place) => {
    const stat = stats[place] ?? ""
    return Number(stat.slice(stat.lastIndexOf(")") + 4).split(" ")[0]) === parent
  })
}
