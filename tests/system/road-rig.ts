import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { openStore, type Store } from "@galley/store/database"
import { listProjects } from "@galley/store/projects/list-projects"
import type { Project } from "@galley/store/projects/project"
import { requestReview } from "@galley/store/projects/request-review"
import { updateSettings } from "@galley/store/projects/update-settings"
import { getRun, type RunDetail } from "@galley/store/runs/get-run"
import { openSample, registerSample, sampleProject } from "../../scripts/demo/sample-project.ts"
import { makeSampleRepository, type SampleChange } from "../../scripts/demo/sample-repository.ts"
import { type Platform, type PlatformOptions, startPlatform } from "../../scripts/demo/start-platform.ts"

/** Users and ports of this rig's slots, apart from a runner that may work on the same machine. */
const SLOT_ENVIRONMENT = {
  GALLEY_SLOT_UID: "64970",
  GALLEY_GATEWAY_PORT: "23200",
  GALLEY_CONTROL_PORT: "24200",
  GALLEY_JOBS_DIRECTORY: "/var/lib/galley/road-test-jobs",
}

const finalStates = ["succeeded", "failed", "cancelled", "superseded", "skipped"]

/** A whole installation with one active project, seen through the database and the fakes. */
export type RoadRig = Readonly<{
  platform: Platform
  store: Store
  change: SampleChange
  project(): Promise<Project>
  changeSettings(changes: Record<string, unknown>): Promise<void>
  reviewNow(number: number): Promise<string>
  openPullRequest(number: number): Promise<void>
  /** The comments the App's bot wrote. */
  botComments(number: number): { id: number; body: string }[]
  /** Waits until a job ended and returns its last run, or null when none was made. */
  jobEnd(jobId: string): Promise<{ state: string; code: string | null; run: RunDetail | null }>
  /** Waits for the newest job of a pull request, other than `known`, and returns its id. */
  nextJob(number: number, known: readonly string[]): Promise<string>
  /** Waits until a condition holds. */
  until(condition: () => boolean): Promise<void>
  stop(): Promise<void>
}>

export type RoadOptions = Pick<PlatformOptions, "runnerEnvironment" | "serverEnvironment">

export async function startRoad({ runnerEnvironment = SLOT_ENVIRONMENT, serverEnvironment = {} }: RoadOptions = {}): Promise<RoadRig> {
  const directory = mkdtempSync(join(tmpdir(), "galley-road-"))
  const change = makeSampleRepository(join(directory, "repository"))
  const platform = await startPlatform({ log: () => undefined, realModel: null, port: null, runnerEnvironment, serverEnvironment })
  const store = await openStore({
    url: platform.databaseUrl,
    // Nothing that the server sealed is opened here.
    keyRing: { current: { id: "test", key: randomBytes(32) } },
    applicationName: "road-test",
    onError: (error) => {
      throw error
    },
  })
  const { github } = platform
  await registerSample(github, change)
  const [workspace] = await store.sql<[{ id: string }]>`select id from workspaces`
  const workspaceId = workspace.id

  const project = async () => {
    const [first] = await listProjects(store, workspaceId)
    if (first === undefined) throw new Error("the repository did not become a project")
    return first
  }
  const changeSettings = async (changes: Record<string, unknown>) => {
    const { id, settingsVersion } = await project()
    await updateSettings(store, { workspaceId, projectId: id, version: settingsVersion, changes, actor: "test" })
  }
  await changeSettings({ active: true, debounceSeconds: 0 })

  return {
    platform,
    store,
    change,
    project,
    changeSettings,
    async reviewNow(number) {
      const { id } = await project()
      return (await requestReview(store, { workspaceId, projectId: id, pullRequestNumber: number, actor: "test" })).jobId
    },
    openPullRequest: (number) => openSample(github, change, number),
    botComments: (number) =>
      github
        .comments({ repo: sampleProject.repo, number })
        .filter((comment) => comment.author.login === "galley-review[bot]")
        .map(({ id, body }) => ({ id, body: body ?? "" })),
    async nextJob(number, known) {
      for (;;) {
        const [job] = await store.sql<[{ id: string }?]>`
          select j.id from review_jobs j join pull_requests q on q.id = j.pull_request_id
          where q.number = ${number} and not (j.id = any(${[...known]}::uuid[])) order by j.first_queued_at desc limit 1`
        if (job !== undefined) return job.id
        await delay(50)
      }
    },
    async jobEnd(jobId) {
      for (;;) {
        const [job] = await store.sql<[{ state: string; code: string | null; runId: string | null }]>`
          select state, code, run_id as "runId" from review_jobs where id = ${jobId}`
        if (finalStates.includes(job.state)) {
          return { state: job.state, code: job.code, run: job.runId === null ? null : await getRun(store, workspaceId, job.runId) }
        }
        await delay(50)
      }
    },
    async until(condition) {
      while (!condition()) await delay(50)
    },
    async stop() {
      await store.close()
      await platform.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
