import { spawn } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { FakeGitHub, FakeGitHubOptions } from "@galley/fake-github"
import { bundle } from "../../scripts/bundle.ts"
import { type IntakeRig, type ServerProcess, startIntakeRig, watch } from "../system/intake-rig.ts"
import { balanceLoad } from "./balance-load.ts"
import { type KeptProcess, keepRunning } from "./keep-running.ts"
import { RUNNERS, SERVERS } from "./troubles.ts"

const OWNER = "acme"
const REPOSITORIES = ["shop", "docs"]
const INSTALLATION = 7001
const WORK_MS = 400
const repository = new URL("../..", import.meta.url).pathname

/** The repository of a pull request: their numbers are unique over all. */
export const repoOf = (number: number) => `${OWNER}/${REPOSITORIES[number % REPOSITORIES.length]}`

/** A whole installation of processes that are hurt and come back. */
export type ChaosRig = Readonly<{
  intake: IntakeRig
  github: FakeGitHub
  servers: readonly KeptProcess[]
  runners: readonly KeptProcess[]
  stop(): Promise<void>
}>

/** When a step fails, what was started is stopped. */
export async function startChaosRig(options: FakeGitHubOptions): Promise<ChaosRig> {
  await using started = new AsyncDisposableStack()
  const programs = started.adopt(await bundlePrograms(), ({ remove }) => remove())
  const intake = started.adopt(await startIntakeRig({ github: options, bundle: programs.server }), ({ stop }) => stop())
  const keep = (count: number, start: (index: number) => Promise<ServerProcess>) =>
    Array.from({ length: count }, (_, index) =>
      started.adopt(
        keepRunning(() => start(index)),
        ({ end }) => end(),
      ),
    )
  const environment = { GALLEY_MAX_RUNNING_JOBS: String(RUNNERS) }
  const servers = keep(SERVERS, () => intake.startServer({ environment }))
  const addresses = () => servers.flatMap((server) => server.current()?.url ?? [])
  const { url } = started.adopt(await balanceLoad(addresses), ({ close }) => close())
  await Promise.all(servers.map((server) => server.up()))

  const { github } = intake
  github.setWebhook({ url: `${url}/webhooks/github`, secret: intake.webhookSecret })
  for (const name of REPOSITORIES) {
    await github.registerRepository({ owner: OWNER, name, gitDirectory: null, installationId: INSTALLATION })
  }
  await activate(intake)
  const runners = keep(RUNNERS, (index) => startRunner(programs.runner, intake, url, `runner ${index + 1}`))
  await Promise.all(runners.map((runner) => runner.up()))
  const all = started.move()
  return { intake, github, servers, runners, stop: () => all.disposeAsync() }
}

/** Where a burst of pushes is one review, and where it is not. */
async function activate({ sql }: IntakeRig): Promise<void> {
  for (const [debounceSeconds, name] of REPOSITORIES.entries()) {
    await sql`update projects set settings = ${sql.json({ active: true, debounceSeconds })} where name = ${name}`
  }
}

/** As they are shipped: bundled programs start in a fraction of the time, which is most of a run with many restarts. */
async function bundlePrograms(): Promise<{ server: string; runner: string; remove(): Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), "galley-chaos-"))
  const [server, runner] = [join(directory, "server.js"), join(directory, "runner.js")]
  await bundle(join(repository, "apps/server/src/main.ts"), server)
  await bundle(join(repository, "conformance/reference-runner.ts"), runner)
  await writeFile(join(directory, "package.json"), '{ "type": "module" }\n')
  return { server, runner, remove: () => rm(directory, { recursive: true, force: true }) }
}

async function startRunner(program: string, { runnerToken }: IntakeRig, serverUrl: string, name: string): Promise<ServerProcess> {
  const env = { SERVER: serverUrl, TOKEN: runnerToken, NAME: name, WORK_MS: String(WORK_MS) }
  return watch(spawn(process.execPath, [program], { env, stdio: ["ignore", "pipe", "inherit"] }), serverUrl)
}
