import { execFileSync, spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { FakeModel } from "@galley/fake-model"
import { listProjects } from "@galley/store/projects/list-projects"
import { updateSettings } from "@galley/store/projects/update-settings"
import { expireLeases } from "@galley/store/queue/expire-leases"
import type { StartedProcess } from "../../scripts/demo/start-process.ts"
import { type RoadRig, startRoad } from "./road-rig.ts"
import { type SlotProcess, slotProcesses } from "./slot-processes.ts"

const SLOT_UID = 64_980
const TABLE = `galley_egress_${SLOT_UID}`
const JOBS_DIRECTORY = "/var/lib/galley/fault-test-jobs"
// Ports below the range that the kernel takes for outgoing connections, where one could be busy at any time.
const runnerEnvironment = {
  GALLEY_SLOT_UID: String(SLOT_UID),
  GALLEY_GATEWAY_PORT: "23300",
  GALLEY_CONTROL_PORT: "24300",
  GALLEY_JOBS_DIRECTORY: JOBS_DIRECTORY,
  GALLEY_DRAIN_SECONDS: "0",
}
/** Long enough for an engine to start on a busy machine, short enough to wait for. */
export const MODEL_IDLE_SECONDS = 12

export type JobRow = Readonly<{
  state: string
  code: string | null
  attempt: number
  failures: number
  fence: number
  runId: string
  leaseLeftMs: number | null
}>
export type RunRow = Readonly<{
  outcome: string
  code: string | null
  fence: number
  usage: { modelCalls: number; costUsd: number | null }
}>

/** What is left on this machine of the engines of the runner under test. */
export type Remains = Readonly<{ processes: string[]; egressRules: boolean; jobs: string[] }>
export const nothing: Remains = { processes: [], egressRules: false, jobs: [] }

/** A platform whose runner may be hurt. Pull requests need numbers of their own across repositories. */
export type FaultRig = Readonly<{
  road: RoadRig
  /** Every secret of the installation that a process could hold. */
  secrets(): string[]
  /** The runner without root's rights: the child of the process that was started. */
  droppedRunner(): number
  runner(): StartedProcess
  replaceRunner(nodeArguments?: readonly string[]): Promise<void>
  /** Ends leases before their time and retry delays at once, as if both had passed. */
  letTimePass(jobId: string): Promise<void>
  /** Takes the egress rules of the runner away, as another administrator of the machine could. */
  dropEgressRules(): void
  /** Makes the model misbehave, opens the sample change as a pull request and waits until an engine has asked the model. */
  openWhile(number: number, mode: Parameters<FakeModel["setMode"]>[0]): Promise<string>
  jobRow(jobId: string): Promise<JobRow>
  runsOf(jobId: string): Promise<RunRow[]>
  /** Model requests since `from`, as one text. */
  modelText(from: number): string
  modelCalls(): number
  remains(): Remains
  engines(): SlotProcess[]
  openCodes(): SlotProcess[]
  jobsDirectory: string
  /** Builds the hand-made repositories and makes each an active project `sample/<id in lower case>`. */
  addOddRepositories(ids: readonly string[]): Promise<{ marks: string; change(id: string): { baseSha: string; headSha: string } }>
  changeSettings(repository: string, changes: Record<string, unknown>): Promise<void>
  stop(): Promise<void>
}>

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Throws when this process may not do what a runner's supervisor does. */
export async function startFaultRig(): Promise<FaultRig> {
  if (process.getuid?.() !== 0) throw new Error("these tests start a runner with its boundary: run them as root")
  const serverEnvironment = { GALLEY_MODEL_IDLE_SECONDS: String(MODEL_IDLE_SECONDS) }
  const road = await startRoad({ runnerEnvironment, serverEnvironment })
  const { platform, store } = road
  const { github, model } = platform
  if (model === null) throw new Error("these tests need the scripted model")
  const directory = mkdtempSync(join(tmpdir(), "galley-faults-"))
  let runner = platform.runner

  const modelCalls = () => model.requests.length
  const changeSettings: FaultRig["changeSettings"] = async (name, changes) => {
    const { workspaceId } = await road.project()
    const project = (await listProjects(store, workspaceId)).find((candidate) => candidate.name === name)
    if (project === undefined) throw new Error(`there is no project ${name}`)
    await updateSettings(store, { workspaceId, projectId: project.id, version: project.settingsVersion, changes, actor: "test" })
  }

  return {
    road,
    changeSettings,
    modelCalls,
    secrets() {
      const modelKey = /^MODEL_API_KEY=(.+)$/m.exec(environmentOf(platform.server.pid))?.[1]
      const runnerToken = /^GALLEY_RUNNER_TOKEN=(.+)$/m.exec(environmentOf(runner.pid))?.[1]
      const tokens = [...github.state.installationTokens.keys()]
      if (modelKey === undefined || runnerToken === undefined || tokens.length === 0) throw new Error("a secret to look for is missing")
      return [modelKey, runnerToken, ...tokens, ...tokens.map((token) => Buffer.from(`x-access-token:${token}`).toString("base64"))]
    },
    droppedRunner: () => onlyChild(runner.pid),
    runner: () => runner,
    async replaceRunner(nodeArguments) {
      runner = await platform.startRunner(nodeArguments)
    },
    async letTimePass(jobId) {
      await store.sql`update review_jobs set lease_expires_at = clock_timestamp() where id = ${jobId} and state = 'running'`
      await expireLeases(store)
      await store.sql`update review_jobs set run_after = clock_timestamp() where id = ${jobId} and state = 'waiting'`
    },
    dropEgressRules() {
      const { status, stderr } = nft("delete", "table", "inet", TABLE)
      if (status !== 0) throw new Error(`the egress rules cannot be removed: ${stderr}`)
    },
    async openWhile(number, mode) {
      const before = modelCalls()
      model.setMode(mode)
      await road.openPullRequest(number)
      await road.until(() => modelCalls() > before)
      return road.nextJob(number, [])
    },
    async jobRow(jobId) {
      const [row] = await store.sql<[JobRow]>`
        select state, code, attempt, failures, fence::int, run_id as "runId",
          (extract(epoch from lease_expires_at - clock_timestamp()) * 1000)::float8 as "leaseLeftMs"
        from review_jobs where id = ${jobId}`
      return row
    },
    runsOf: async (jobId) => [
      ...(await store.sql<RunRow[]>`select outcome, code, fence::int, usage from review_runs where job_id = ${jobId} order by fence`),
    ],
    modelText: (from) => JSON.stringify(model.requests.slice(from).map(({ body }) => body)),
    engines: () => slotProcesses(SLOT_UID),
    openCodes: () => slotProcesses(SLOT_UID).filter(({ command }) => command.includes("/opencode\n")),
    remains: () => ({
      processes: slotProcesses(SLOT_UID).map(({ command }) => command),
      egressRules: tableLoaded(),
      jobs: readdirSync(JOBS_DIRECTORY),
    }),
    jobsDirectory: JOBS_DIRECTORY,
    async addOddRepositories(ids) {
      const marks = join(directory, "marks")
      mkdirSync(marks)
      const script = new URL("../../packages/checkout/src/fixtures/odd.py", import.meta.url).pathname
      const built = JSON.parse(execFileSync("python3", [script, "--out", directory, "--marks", marks], { encoding: "utf8" }))
      for (const id of ids) {
        const name = id.toLowerCase()
        await github.registerRepository({ owner: "sample", name, gitDirectory: join(directory, `${id}.git`), installationId: 7001 })
        await github.idle()
        await changeSettings(name, { active: true, debounceSeconds: 0 })
      }
      return { marks, change: (id) => ({ baseSha: built[id].base, headSha: built[id].head }) }
    },
    async stop() {
      await road.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

const environmentOf = (pid: number) => readFileSync(`/proc/${pid}/environ`, "utf8").replaceAll("\0", "\n")

function onlyChild(parent: number): number {
  const [child, ...others] = readFileSync(`/proc/${parent}/task/${parent}/children`, "utf8").trim().split(" ")
  if (!child || others.length > 0) throw new Error("the supervisor has not exactly one child")
  return Number(child)
}

function nft(...args: string[]) {
  const result = spawnSync("nft", args, { env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" }, encoding: "utf8" })
  if (result.error !== undefined) throw result.error
  return result
}

function tableLoaded(): boolean {
  const { status, stderr } = nft("list", "table", "inet", TABLE)
  if (status !== 0 && !stderr.includes("No such file or directory")) throw new Error(`the egress rules cannot be read: ${stderr}`)
  return status === 0
}
