import { randomBytes } from "node:crypto"
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type FakeGitHub, startFakeGitHub } from "@galley/fake-github"
import { type FakeModel, startFakeModel } from "@galley/fake-model"
import { bundle } from "../bundle.ts"
import { freePort } from "../free-port.ts"
import { startPostgres } from "../postgres.ts"
import { enginePrefixPath } from "../setup/setup.ts"
import { type ModelService, serverEnvironment } from "./server-environment.ts"
import { type StartedProcess, startProcess } from "./start-process.ts"

export type PlatformOptions = Readonly<{
  /** Receives one line per step. */
  log: (line: string) => void
  /** Null: the scripted model. */
  realModel: ModelService | null
  /** Port of the pages; null: any free one. */
  port: number | null
  /** Added to the runner's environment, e.g. other slot users for a second platform on one machine. */
  runnerEnvironment?: Readonly<Record<string, string>>
  /** Added to the server's environment. */
  serverEnvironment?: Readonly<Record<string, string>>
}>

/** Everything of one installation on this machine: the ordinary server and runner, and fakes for GitHub and the model. */
export type Platform = Readonly<{
  url: string
  github: FakeGitHub
  model: FakeModel | null
  databaseUrl: string
  server: StartedProcess
  runner: StartedProcess
  /** Starts a runner in the place of one that ended; it is stopped with the platform. */
  startRunner(nodeArguments?: readonly string[]): Promise<StartedProcess>
  logDirectory: string
  stop(): Promise<void>
}>

const APP_ID = 4242
const repository = new URL("../..", import.meta.url).pathname

/**
 * Starts Postgres, the fakes, the migration, the server and the runner, the last three as ordinary processes with nothing but the
 * environment that `.env.example` describes. When a step fails, what was started is stopped.
 */
export async function startPlatform(options: PlatformOptions): Promise<Platform> {
  const stops: (() => Promise<void>)[] = []
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

async function start(options: PlatformOptions, stops: (() => Promise<void>)[]): Promise<Omit<Platform, "stop">> {
  const step = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const startedAt = performance.now()
    const value = await work()
    options.log(`${name} (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`)
    return value
  }
  const directory = await mkdtemp(join(tmpdir(), "galley-demo-"))
  stops.push(() => rm(directory, { recursive: true, force: true }))
  // Postgres and the runner are other users than root.
  await chmod(directory, 0o755)
  const postgres = await step("Postgres is up", () => startPostgres({ dataDirectory: join(directory, "postgres"), log: () => undefined }))
  stops.push(() => postgres.stop())

  const port = options.port ?? (await freePort())
  const url = `http://127.0.0.1:${port}`
  const webhookSecret = randomBytes(24).toString("hex")
  const github = await startFakeGitHub({ appId: APP_ID, webhook: { url: `${url}/webhooks/github`, secret: webhookSecret } })
  stops.push(() => github.close())
  const scriptedKey = randomBytes(24).toString("hex")
  const model = options.realModel === null ? await startFakeModel({ apiKey: scriptedKey }) : null
  if (model !== null) stops.push(() => model.close())

  const runnerToken = randomBytes(24).toString("hex")
  const environment = {
    ...serverEnvironment({
      databaseUrl: postgres.url,
      port,
      github,
      model: options.realModel ?? { baseUrl: model?.url ?? "", apiKey: scriptedKey, model: "scripted-model" },
      masterKey: randomBytes(32).toString("base64"),
      webhookSecret,
      runnerToken,
    }),
    GALLEY_WORKSPACE: "Demo",
    GALLEY_DEMO_LOGIN: "1",
    ...options.serverEnvironment,
  }
  const logDirectory = join(repository, ".galley", "logs")
  await rm(logDirectory, { recursive: true, force: true })
  await mkdir(logDirectory, { recursive: true })
  const serverProcess = (name: string, ...args: string[]) =>
    startProcess({
      name,
      argv: [process.execPath, "--import", join(repository, "scripts/tsx-hook.ts"), join(repository, "apps/server/src/main.ts"), ...args],
      env: environment,
      logFile: join(logDirectory, "server.log"),
    })
  await step("schema is up to date", () => serverProcess("migrate", "migrate").waitForLine(says("the schema is up to date")))
  const server = serverProcess("server")
  stops.push(() => server.stop())
  await step("server is ready", () => server.waitForLine(says("server ready")))

  const startRunner = async (nodeArguments: readonly string[] = []) => {
    const started = await launchRunner(directory, url, runnerToken, options.runnerEnvironment ?? {}, nodeArguments, logDirectory)
    stops.push(() => started.stop())
    await started.waitForLine(says("runner ready"))
    return started
  }
  const runner = await step("runner has proved its boundary and engines", startRunner)
  return { url, github, model, databaseUrl: postgres.url, server, runner, startRunner, logDirectory }
}

/** The runner as it is shipped: one bundled file, started as root where possible, in the demo mode otherwise. */
async function launchRunner(
  directory: string,
  serverUrl: string,
  token: string,
  more: Readonly<Record<string, string>>,
  nodeArguments: readonly string[],
  logDirectory: string,
): Promise<StartedProcess> {
  const isRoot = process.getuid?.() === 0
  const prefix = enginePrefixPath()
  const program = join(directory, "runner.js")
  await bundle(join(repository, "apps/runner/src/main.ts"), program)
  // What the dropped runner reads must be readable for it, also from a private checkout.
  await writeFile(join(directory, "package.json"), '{ "type": "module" }\n')
  const jobs = join(directory, "jobs")
  if (!isRoot) await mkdir(jobs, { mode: 0o711 })
  return startProcess({
    name: "runner",
    argv: [isRoot ? join(prefix, "node", "node") : process.execPath, ...nodeArguments, program],
    env: {
      PATH: process.env.PATH ?? "",
      GALLEY_SERVER_URL: serverUrl,
      GALLEY_RUNNER_TOKEN: token,
      GALLEY_RUNNER_NAME: "demo-runner",
      GALLEY_PREFIX: prefix,
      GALLEY_DRAIN_SECONDS: "2",
      ...(isRoot ? { GALLEY_BOUNDARY: "enforced" } : { GALLEY_BOUNDARY: "demo", GALLEY_JOBS_DIRECTORY: jobs }),
      ...more,
    },
    logFile: join(logDirectory, "runner.log"),
  })
}

const says = (sentence: string) => (line: string) => line.includes(`"msg":"${sentence}"`)
