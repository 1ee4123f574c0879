import { type ChildProcess, spawn } from "node:child_process"
import { randomBytes, randomUUID } from "node:crypto"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { type FakeGitHub, startFakeGitHub } from "@galley/fake-github"
import postgres from "postgres"
import { expect, onTestFinished, test } from "vitest"
import { bundle } from "../../scripts/bundle.ts"
import { openSample, registerSample } from "../../scripts/demo/sample-project.ts"
import { makeSampleRepository } from "../../scripts/demo/sample-repository.ts"
import { noModel, serverEnvironment } from "../../scripts/demo/server-environment.ts"
import { freePort } from "../../scripts/free-port.ts"
import { enginePrefixPath } from "../../scripts/setup/setup.ts"
import { freshDatabase } from "../integration/database.ts"

const root = resolve(import.meta.dirname, "../..")
const SERVER = ["--import", join(root, "scripts/tsx-hook.ts"), join(root, "apps/server/src/main.ts")]
const RUNNER = [join(root, "apps/runner/src/main.ts")]
const TOKEN = "runner-token-of-the-start-tests"
const WEBHOOK_SECRET = "a secret of these tests"

type Started = Readonly<{
  child: ChildProcess
  output: () => string
  printed: () => string
  ended: Promise<number | null>
  says(text: string): Promise<void>
}>

/** A node process with nothing in its environment but what is given; killed when the test ends. */
function start(args: string[], env: Record<string, string> = {}, cwd = root): Started {
  const child = spawn(process.execPath, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] })
  let text = ""
  let printed = ""
  child.stdout.on("data", (chunk) => (printed += String(chunk)))
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (text += String(chunk)))
  const ended = once(child, "close").then(([code]) => code as number | null)
  onTestFinished(async () => {
    child.kill("SIGKILL")
    await ended
  })
  const says = async (expected: string) => {
    while (!text.includes(expected)) {
      if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode} before it said "${expected}":\n${text}`)
      await delay(20)
    }
  }
  return { child, output: () => text, printed: () => printed, ended, says }
}

function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), "galley-start-"))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** A complete environment beside a fake GitHub. */
async function completeEnvironment(
  database: { empty?: boolean } = {},
): Promise<{ env: Record<string, string>; url: string; github: FakeGitHub }> {
  const { url: databaseUrl } = await freshDatabase(database)
  const github = await startFakeGitHub()
  onTestFinished(() => github.close())
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const masterKey = randomBytes(32).toString("base64")
  const env = serverEnvironment({
    databaseUrl,
    port,
    github,
    model: noModel,
    masterKey,
    webhookSecret: WEBHOOK_SECRET,
    runnerToken: TOKEN,
  })
  return { env, url, github }
}

/** Answer of one long poll as a runner sends it. */
function poll(url: string, signal?: AbortSignal): Promise<Response> {
  const times = { checkedAt: new Date().toISOString(), expiresAt: new Date(Date.now() + 60_000).toISOString() }
  const capabilities = [{ kind: "diff", engineVersion: "1", boundary: "enforced", ...times }]
  const body = { requestId: randomUUID(), runnerName: "r", runnerVersion: "0.1.0", capabilities, freeSlots: 1, waitMs: 25_000 }
  return fetch(`${url}/runner/v1/leases`, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    ...(signal === undefined ? {} : { signal }),
  })
}

function database({ DATABASE_URL = "" }: Record<string, string>): postgres.Sql {
  const sql = postgres(DATABASE_URL, { max: 1, onnotice: () => {} })
  onTestFinished(() => sql.end())
  return sql
}

/** Resolves once the server took a runner's poll. */
async function pollArrived(env: Record<string, string>): Promise<void> {
  const sql = database(env)
  while ((await sql`select 1 from runners where last_seen_at is not null`).length === 0) await delay(20)
}

/** Milliseconds from SIGTERM to the end, and the exit code. */
async function stop({ child, ended }: Started): Promise<{ code: number | null; ms: number }> {
  const asked = performance.now()
  child.kill("SIGTERM")
  return { code: await ended, ms: performance.now() - asked }
}

test("a server with nothing set names what is missing and ends with 2", async () => {
  const server = start(SERVER)
  expect(await server.ended).toBe(2)
  for (const name of ["DATABASE_URL", "GALLEY_MASTER_KEY", "GALLEY_RUNNER_TOKEN", "GITHUB_APP_ID", "GITHUB_PRIVATE_KEY", "MODEL"]) {
    expect(server.output()).toMatch(new RegExp(`^ {2}${name}: `, "m"))
  }
})

test("a server refuses a database that was not migrated, and starts once it is", async () => {
  const { env, url } = await completeEnvironment({ empty: true })
  const early = start(SERVER, env)
  expect(await early.ended).toBe(1)
  expect(early.output()).toContain('"code":"schema_too_old"')

  const migration = start([...SERVER, "migrate"], env)
  expect(await migration.ended).toBe(0)
  const server = start(SERVER, env)
  await server.says('"msg":"server ready"')
  for (const path of ["/health/live", "/health/ready"]) expect((await fetch(url + path)).status).toBe(200)
  expect(await stop(server)).toMatchObject({ code: 0 })
})

test("a server that does not know its command ends with 1", async () => {
  const { env } = await completeEnvironment()
  const server = start([...SERVER, "dance"], env)
  expect(await server.ended).toBe(1)
  expect(server.output()).toContain('"code":"config_invalid"')
})

// R-FLEET-2
test("the command runner prints a token and nothing else, and a refusal with its code", async () => {
  const { env } = await completeEnvironment()
  const run = async (...args: string[]) => {
    const command = start([...SERVER, "runner", ...args], env)
    return { code: await command.ended, output: command.output() }
  }

  const registered = await run("register", "pool", "--shared")
  expect(registered).toEqual({ code: 0, output: expect.stringMatching(/^galley_runner_[\w-]{43}\n$/) })
  expect(await run("register", "pool", "--shared")).toEqual({ code: 1, output: expect.stringMatching(/^runner_name_taken: .*\n$/) })
  expect(await run("list")).toEqual({ code: 0, output: expect.stringMatching(/^\{"name":"pool","workspace":null,.*\}\n$/) })
  expect(await run("dance")).toMatchObject({ code: 2, output: expect.stringContaining("usage: runner <verb>") })

  const unreachable = start([...SERVER, "runner", "list"], { ...env, DATABASE_URL: "postgres://nobody@127.0.0.1:9/none" })
  expect(await unreachable.ended).toBe(1)
  expect(unreachable.printed()).toBe("")
  expect(unreachable.output()).toContain("ECONNREFUSED")
})

test("a server that is stopped answers waiting runners and ends within ten seconds, although GitHub hangs, and says so", async () => {
  const { env, url, github } = await completeEnvironment()
  // The first task of a server reads its installations.
  github.addFault({ path: "/app/installations", times: 5, effect: { kind: "hang" } })
  const server = start(SERVER, env)
  await server.says('"msg":"server ready"')
  const waiting = poll(url)
  await pollArrived(env)
  const { code, ms } = await stop(server)
  expect(code).toBe(1)
  expect(server.output()).toContain('"msg":"the server did not stop in time"')
  expect(ms).toBeLessThan(10_000)
  expect((await waiting).status).toBe(204)
})

test("a runner that hangs up is given no job, and the next one gets it", async () => {
  const { env, url, github } = await completeEnvironment()
  const server = start(SERVER, env)
  await server.says('"msg":"server ready"')
  const change = makeSampleRepository(join(temporary(), "repository"))
  github.setWebhook({ url: `${url}/webhooks/github`, secret: WEBHOOK_SECRET })
  await registerSample(github, change)
  await database(env)`update projects set settings = '{"active": true, "debounceSeconds": 0}'`

  const leaving = new AbortController()
  const gone = poll(url, leaving.signal)
  await pollArrived(env)
  leaving.abort()
  await expect(gone).rejects.toThrow()
  await openSample(github, change, 1)
  const answer = await poll(url)
  expect(answer.status).toBe(200)
  expect(await answer.json()).toMatchObject({ attempt: 1 })
  expect(await stop(server)).toMatchObject({ code: 0 })
})

test("the bundled server runs where there are no sources and no dependencies", async () => {
  const { env, url } = await completeEnvironment({ empty: true })
  const directory = temporary()
  const program = join(directory, "server.js")
  await bundle(join(root, "apps/server/src/main.ts"), program)
  const bundled = { ...env, GALLEY_MIGRATIONS_DIRECTORY: join(root, "migrations") }
  const migration = start([program, "migrate"], bundled, directory)
  expect(await migration.ended, migration.output()).toBe(0)
  const server = start([program], bundled, directory)
  await server.says('"msg":"server ready"')
  expect((await fetch(`${url}/health/ready`)).status).toBe(200)
  expect(await stop(server)).toMatchObject({ code: 0 })
})

test("a runner with nothing set names what is missing and ends with 2", async () => {
  const runner = start(RUNNER)
  expect(await runner.ended).toBe(2)
  for (const name of ["GALLEY_SERVER_URL", "GALLEY_RUNNER_TOKEN"]) expect(runner.output()).toMatch(new RegExp(`^ {2}${name}: `, "m"))
})

test("a runner with a wrong token says so, keeps asking, and ends when it is told to", async () => {
  const { env, url } = await completeEnvironment()
  const server = start(SERVER, env)
  await server.says('"msg":"server ready"')
  const jobs = join(temporary(), "jobs")
  mkdirSync(jobs)
  const runner = start(RUNNER, {
    PATH: process.env.PATH ?? "",
    GALLEY_SERVER_URL: url,
    GALLEY_RUNNER_TOKEN: "another-token-than-the-servers",
    GALLEY_RUNNER_KINDS: "dynamic",
    GALLEY_BOUNDARY: "demo",
    GALLEY_PREFIX: enginePrefixPath(),
    GALLEY_JOBS_DIRECTORY: jobs,
    GALLEY_DRAIN_SECONDS: "0",
  })
  await runner.says('"code":"runner_unauthorized"')
  while (runner.output().split("runner_unauthorized").length < 4) await delay(50)
  expect(runner.child.exitCode).toBeNull()
  const { code, ms } = await stop(runner)
  expect(code).toBe(0)
  expect(ms).toBeLessThan(10_000)
  expect(runner.output()).not.toContain("another-token-than-the-servers")
})
