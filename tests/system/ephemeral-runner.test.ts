import { execFileSync } from "node:child_process"
import { readdirSync } from "node:fs"
import { cancelJob } from "@galley/store/queue/cancel-job"
import { listRunners } from "@galley/store/runners/list-runners"
import { removeRunner } from "@galley/store/runners/remove-runner"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type RoadRig, startRoad } from "./road-rig.ts"
import { slotProcesses } from "./slot-processes.ts"

const SLOT_UID = 64_965
const JOBS_DIRECTORY = "/var/lib/galley/ephemeral-test-jobs"
let road: RoadRig

beforeAll(async () => {
  road = await startRoad({
    runnerEnvironment: {
      GALLEY_RUNNER_EPHEMERAL: "true",
      GALLEY_SLOT_UID: String(SLOT_UID),
      GALLEY_GATEWAY_PORT: "23400",
      GALLEY_CONTROL_PORT: "24400",
      GALLEY_JOBS_DIRECTORY: JOBS_DIRECTORY,
    },
  })
})
afterAll(() => road?.stop())

const remains = () => ({ processes: slotProcesses(SLOT_UID).map(({ command }) => command), jobs: readdirSync(JOBS_DIRECTORY) })
const nothing = { processes: [], jobs: [] }

// R-FLEET-6
test("an ephemeral runner waits for a job, does exactly one, hands its result over, leaves nothing and ends with 0", async () => {
  const { runner } = road.platform
  await Promise.all([1, 2].map((number) => road.openPullRequest(number)))
  const jobs = [await road.nextJob(1, []), await road.nextJob(2, [])]

  expect(await runner.ended).toBe(0)

  expect(remains()).toEqual(nothing)
  const states = await road.store.sql<{ state: string; attempt: number }[]>`
    select state, attempt from review_jobs where id = any (${jobs}) order by attempt desc`
  expect(states).toMatchObject([{ attempt: 1 }, { state: "waiting", attempt: 0 }])
  await road.until(() => [1, 2].flatMap((number) => road.botComments(number)).length === 1)
})

// R-FLEET-6
test("an ephemeral runner whose job fails has told so and ends with 0: what became of the job is on its page", async () => {
  road.platform.model?.setMode({ name: "status-401" })
  const [waiting] = await road.store.sql<[{ id: string }]>`select id from review_jobs where state = 'waiting'`

  const runner = await road.platform.startRunner()

  expect(await runner.ended).toBe(0)
  expect(remains()).toEqual(nothing)
  expect(await road.jobEnd(waiting.id)).toMatchObject({ state: "failed", code: "model_unauthorized" })
})

// R-FLEET-6
test("an ephemeral runner that is not fit for its job gives it back and ends with 1", async () => {
  road.platform.model?.setMode(null)
  const runner = await road.platform.startRunner()
  const nft = ["delete", "table", "inet", `galley_egress_${SLOT_UID}`]
  execFileSync("nft", nft, { env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" } })

  await road.openPullRequest(3)

  expect(await runner.ended).toBe(1)
  expect(remains()).toEqual(nothing)
  const jobId = await road.nextJob(3, [])
  const [job] = await road.store.sql`select state, failures, attempt from review_jobs where id = ${jobId}`
  expect(job).toMatchObject({ state: "waiting", failures: 0, attempt: 1 })
  await cancelJob(road.store, (await road.project()).workspaceId, jobId, "test")
})

// R-FLEET-4, R-FLEET-6
test("a runner that is removed in mid-review drops its work and ends, and the job waits for another one", async () => {
  const { workspaceId } = await road.project()
  const before = road.platform.model?.requests.length ?? 0
  road.platform.model?.setMode({ name: "hang" })
  const runner = await road.platform.startRunner()
  await road.openPullRequest(4)
  await road.until(() => (road.platform.model?.requests.length ?? 0) > before)
  const [registered] = await listRunners(road.store, workspaceId)

  await removeRunner(road.store, { workspaceId, runnerId: registered?.id ?? "", actor: "test" })

  const [job] = await road.store.sql`select state, failures from review_jobs where id = ${await road.nextJob(4, [])}`
  expect(job).toMatchObject({ state: "waiting", failures: 0 })
  expect(await runner.ended).toBe(0)
  expect(runner.output().join("\n")).toContain("lease lost; the work was dropped")
  expect(remains()).toEqual(nothing)
})
