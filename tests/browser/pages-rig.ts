import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type FakeGitHub, startFakeGitHub } from "@galley/fake-github"
import { openStore, type Store } from "@galley/store/database"
import { listProjects } from "@galley/store/projects/list-projects"
import type { Project } from "@galley/store/projects/project"
import { listRunners } from "@galley/store/runners/list-runners"
import { bundle } from "../../scripts/bundle.ts"
import { openSample, registerSample, sampleProject } from "../../scripts/demo/sample-project.ts"
import { makeSampleRepository, type SampleChange } from "../../scripts/demo/sample-repository.ts"
import { noModel, serverEnvironment } from "../../scripts/demo/server-environment.ts"
import { type StartedProcess, startProcess } from "../../scripts/demo/start-process.ts"
import { freePort } from "../../scripts/free-port.ts"
import { freshDatabase } from "../integration/database.ts"
import type { Tenant } from "../integration/store-fixture.ts"

/** The real server process beside a fake GitHub, with one project whose reviews are off. */
export type PagesRig = Readonly<{
  url: string
  github: FakeGitHub
  store: Store
  change: SampleChange
  /** The demo workspace as the store's verbs know it. */
  tenant: Tenant
  project(): Promise<Project>
  openPullRequest(number: number, title?: string): Promise<void>
  stop(): Promise<void>
}>

const repository = new URL("../..", import.meta.url).pathname

/** @param bundled starts the server as it is shipped, one file in a directory without dependencies, instead of its sources */
export async function startPagesRig({ bundled = false }: { bundled?: boolean } = {}): Promise<PagesRig> {
  const stops: (() => Promise<void> | void)[] = []
  const stop = async () => {
    for (const step of stops.splice(0).reverse()) await step()
  }
  try {
    return { ...(await start(stops, bundled)), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function start(stops: (() => Promise<void> | void)[], bundled: boolean): Promise<Omit<PagesRig, "stop">> {
  const directory = mkdtempSync(join(tmpdir(), "galley-pages-"))
  stops.push(() => rmSync(directory, { recursive: true, force: true }))
  const database = await freshDatabase({ keep: true })
  stops.push(() => database.drop())
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const webhookSecret = randomBytes(24).toString("hex")
  const github = await startFakeGitHub({ webhook: { url: `${url}/webhooks/github`, secret: webhookSecret } })
  stops.push(() => github.close())

  const server = startServer(join(directory, "server.log"), bundled ? await bundledServer(directory) : sourceServer, {
    ...serverEnvironment({
      databaseUrl: database.url,
      port,
      github,
      model: noModel,
      masterKey: randomBytes(32).toString("base64"),
      webhookSecret,
      runnerToken: randomBytes(24).toString("hex"),
    }),
    GALLEY_WORKSPACE: "Demo",
    GALLEY_DEMO_LOGIN: "1",
  })
  stops.push(() => server.stop())
  await server.waitForLine((line) => line.includes('"msg":"server ready"'))

  const change = makeSampleRepository(join(directory, "repository"))
  await registerSample(github, change)
  const store = await openStore({
    url: database.url,
    // Nothing that the server sealed is opened here.
    keyRing: { current: { id: "test", key: randomBytes(32) } },
    applicationName: "browser-test",
    onError: (error) => {
      throw error
    },
  })
  stops.push(() => store.close())
  const tenant = await readTenant(store)
  return {
    url,
    github,
    store,
    change,
    tenant,
    async project() {
      const [project] = await listProjects(store, tenant.workspaceId)
      if (project === undefined) throw new Error("the repository did not become a project")
      return project
    },
    openPullRequest: (number, title = change.title) => openSample(github, { ...change, title }, number),
  }
}

const sourceServer = ["--import", join(repository, "scripts/tsx-hook.ts"), join(repository, "apps/server/src/main.ts")]

async function bundledServer(directory: string): Promise<string[]> {
  const program = join(directory, "server.js")
  await bundle(join(repository, "apps/server/src/main.ts"), program)
  writeFileSync(join(directory, "package.json"), '{ "type": "module" }\n')
  return [program]
}

function startServer(logFile: string, program: readonly string[], env: Record<string, string>): StartedProcess {
  const environment = { GALLEY_MIGRATIONS_DIRECTORY: join(repository, "migrations"), ...env }
  return startProcess({ name: "server", argv: [process.execPath, ...program], env: environment, logFile })
}

async function readTenant(store: Store): Promise<Tenant> {
  const [workspace] = await store.sql<[{ id: string }]>`select id from workspaces where slug = 'demo'`
  const [project] = await listProjects(store, workspace.id)
  const [runner] = await listRunners(store, workspace.id)
  if (project === undefined || runner === undefined) throw new Error("the server made no project or no runner")
  return {
    workspaceId: workspace.id,
    hostId: project.hostId,
    projectId: project.id,
    repositoryId: project.githubRepositoryId,
    installationId: sampleProject.installationId,
    runnerId: runner.id,
  }
}
