import { afterAll, beforeAll, beforeEach, expect, test } from "vitest"
import { type FaultRig, isAlive, nothing, startFaultRig } from "./fault-rig.ts"
import { shiftedClock } from "./shifted-clock.ts"

/** Bytes keep coming, so that no time limit ends the call: an answer takes minutes. */
const dripping = { name: "drip", n: 5_000 } as const
const soon = { timeout: 15_000, interval: 50 }
let rig: FaultRig

beforeAll(async () => {
  rig = await startFaultRig()
  await rig.changeSettings("checkout", { reviewKind: "dynamic" })
})
afterAll(() => rig?.stop())
beforeEach(() => {
  rig.road.platform.model?.setMode(null)
  rig.road.platform.model?.setScript(null)
})

// F18
test("a runner that is cut off from its server has ended its engine before the server may give the job away", async () => {
  const { server, model } = rig.road.platform
  const jobId = await rig.openWhile(1, dripping)
  process.kill(server.pid, "SIGSTOP")
  try {
    await expect.poll(rig.openCodes, { timeout: 65_000, interval: 100 }).toEqual([])
    expect((await rig.jobRow(jobId)).leaseLeftMs).toBeGreaterThan(0)
  } finally {
    process.kill(server.pid, "SIGCONT")
  }
  model?.setMode(null)
  await rig.letTimePass(jobId)
  expect(await rig.road.jobEnd(jobId)).toMatchObject({ state: "succeeded" })
  expect(await rig.runsOf(jobId)).toMatchObject([{ outcome: "lost" }, { outcome: "reviewed" }])
  expect(rig.road.botComments(1)).toHaveLength(1)
})

// F40
test("a job that kills its runner each time is given up at the third, seen in its run, and others go on", async () => {
  const { model } = rig.road.platform
  const jobId = await rig.openWhile(4, dripping)
  for (let attempt = 1; ; attempt++) {
    expect(await rig.jobRow(jobId)).toMatchObject({ state: "running", attempt })
    const supervisor = rig.runner().pid
    process.kill(rig.droppedRunner(), "SIGKILL")
    await expect.poll(() => isAlive(supervisor), soon).toBe(false)
    expect(rig.remains()).toEqual(nothing)
    await rig.letTimePass(jobId)
    if (attempt === 3) break
    const before = rig.modelCalls()
    await rig.replaceRunner()
    await rig.road.until(() => rig.modelCalls() > before)
  }
  expect(await rig.road.jobEnd(jobId)).toMatchObject({ state: "failed", code: "attempts_exhausted" })
  const lost = { outcome: "lost", code: "runner_lost" }
  expect(await rig.runsOf(jobId)).toMatchObject([lost, lost, lost])

  model?.setMode(null)
  await rig.replaceRunner()
  await rig.road.openPullRequest(5)
  expect(await rig.road.jobEnd(await rig.road.nextJob(5, []))).toMatchObject({ state: "succeeded" })
  expect([rig.road.botComments(4), rig.road.botComments(5).length]).toEqual([[], 1])
})

// F21
test("a runner whose clock is an hour late, and an hour early from mid-review on, reviews as ever", async () => {
  const { model } = rig.road.platform
  await rig.runner().stop()
  await rig.replaceRunner([shiftedClock(-1)])
  // Two calls of nine seconds: longer than the time between two heartbeats.
  model?.setScript((_request, call) => (call < 2 ? { delayMs: 9_000 } : {}))
  const jobId = await rig.openWhile(2, null)
  process.kill(rig.droppedRunner(), "SIGUSR2")
  expect(await rig.road.jobEnd(jobId)).toMatchObject({ state: "succeeded" })
  expect(await rig.runsOf(jobId)).toMatchObject([{ outcome: "reviewed" }])

  model?.setScript(null)
  await rig.road.openPullRequest(3)
  expect(await rig.road.jobEnd(await rig.road.nextJob(3, []))).toMatchObject({ state: "succeeded" })
  expect([2, 3].map((number) => rig.road.botComments(number).length)).toEqual([1, 1])
})
