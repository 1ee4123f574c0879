import { lstatSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { FakeModel } from "@galley/fake-model"
import { cancelJob } from "@galley/store/queue/cancel-job"
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest"
import { type FaultRig, isAlive, MODEL_IDLE_SECONDS, nothing, startFaultRig } from "./fault-rig.ts"

const REPO = "sample/checkout"
/** Bytes keep coming, so that no time limit ends the call: an answer takes minutes. */
const dripping = { name: "drip", n: 5_000 } as const
const silent = { name: "hang" } as const
const HEARTBEAT_MS = 15_000
let rig: FaultRig

beforeAll(async () => {
  rig = await startFaultRig()
})
afterAll(() => rig?.stop())
afterEach(() => {
  rig.road.platform.model?.setMode(null)
  rig.road.platform.model?.setScript(null)
})

const useKind = (reviewKind: "diff" | "dynamic") => rig.changeSettings("checkout", { reviewKind })
const cancel = async (jobId: string) => cancelJob(rig.road.store, (await rig.road.project()).workspaceId, jobId, "test")
const soon = { timeout: 10_000, interval: 50 }

describe("the runner", () => {
  // F11, F26, F28, R-QUEUE-7
  test("killed in mid-review: nothing of it is left, and when its lease is over another one finishes the job, once", async () => {
    await useKind("dynamic")
    const jobId = await rig.openWhile(1, dripping)
    expect(rig.openCodes()).toHaveLength(1)
    expect(rig.remains()).toMatchObject({ egressRules: true, jobs: [expect.any(String)] })
    const supervisor = rig.runner().pid

    process.kill(rig.droppedRunner(), "SIGKILL")
    await expect.poll(() => isAlive(supervisor), soon).toBe(false)
    expect(rig.remains()).toEqual(nothing)

    const held = await rig.jobRow(jobId)
    expect(held).toMatchObject({ state: "running", attempt: 1 })
    expect(held.leaseLeftMs).toBeGreaterThan(0)
    expect(held.leaseLeftMs).toBeLessThanOrEqual(60_000)
    await rig.letTimePass(jobId)
    expect(await rig.jobRow(jobId)).toMatchObject({ state: "waiting", failures: 1 })

    rig.road.platform.model?.setMode(null)
    await rig.replaceRunner()
    expect(await rig.road.jobEnd(jobId)).toMatchObject({ state: "succeeded" })
    const [lost, finished, ...more] = await rig.runsOf(jobId)
    expect([lost, more]).toMatchObject([{ outcome: "lost", code: "runner_lost" }, []])
    expect(finished).toMatchObject({ outcome: "reviewed" })
    expect(finished?.fence).toBeGreaterThan(lost?.fence ?? 0)
    expect(rig.road.botComments(1)).toHaveLength(1)
  })

  // F26
  test("killed together with its supervisor, as by a crash of the machine: the next one clears away what they left", async () => {
    await useKind("dynamic")
    const jobId = await rig.openWhile(7, dripping)
    const [supervisor, dropped] = [rig.runner().pid, rig.droppedRunner()]
    process.kill(supervisor, "SIGSTOP")
    for (const pid of [dropped, supervisor]) process.kill(pid, "SIGKILL")
    await expect.poll(rig.openCodes, soon).toEqual([])
    expect(rig.remains()).toMatchObject({ egressRules: true, jobs: [expect.any(String)] })

    const [left = ""] = rig.remains().jobs
    rig.road.platform.model?.setMode(null)
    await rig.letTimePass(jobId)
    await rig.replaceRunner()
    expect(rig.remains().jobs).not.toContain(left)
    expect(await rig.road.jobEnd(jobId)).toMatchObject({ state: "succeeded" })
    expect(rig.road.botComments(7)).toHaveLength(1)
  })

  // F19
  test("frozen until its lease was given away: it drops its work, and only the later lease leads to a comment", async () => {
    await useKind("dynamic")
    const jobId = await rig.openWhile(8, dripping)
    const dropped = rig.droppedRunner()
    process.kill(dropped, "SIGSTOP")
    rig.road.platform.model?.setMode(null)
    await rig.letTimePass(jobId)
    process.kill(dropped, "SIGCONT")
    expect(await rig.road.jobEnd(jobId)).toMatchObject({ state: "succeeded" })
    expect(rig.runner().output().join("\n")).toContain("lease lost; the work was dropped")
    expect(await rig.runsOf(jobId)).toMatchObject([{ outcome: "lost" }, { outcome: "reviewed" }])
    expect(rig.road.botComments(8)).toHaveLength(1)
  })

  // F27, R-ENG-9
  test("whose engine dies reports engine_crashed, and the job waits for another attempt", async () => {
    await useKind("dynamic")
    const jobId = await rig.openWhile(9, dripping)
    for (const { pid } of rig.openCodes()) process.kill(pid, "SIGKILL")
    await expect.poll(async () => (await rig.jobRow(jobId)).state, soon).toBe("waiting")
    expect(await rig.runsOf(jobId)).toMatchObject([{ outcome: "failed", code: "engine_crashed", usage: { modelCalls: 1 } }])
    await cancel(jobId)
  })

  // F44, R-PROTO-2
  test("told to stop in mid-review: its job waits again at once, what was spent is booked, and nothing of it is left", async () => {
    await useKind("diff")
    const jobId = await rig.openWhile(2, silent)
    const stoppedAt = performance.now()
    const stopped = rig.runner().stop()
    await expect.poll(async () => (await rig.jobRow(jobId)).state, soon).toBe("waiting")
    expect(performance.now() - stoppedAt).toBeLessThan(5_000)
    await stopped
    expect(rig.remains()).toEqual(nothing)
    expect(await rig.jobRow(jobId)).toMatchObject({ failures: 0 })
    expect(await rig.runsOf(jobId)).toMatchObject([{ outcome: "released", usage: { modelCalls: 1, costUsd: null } }])

    rig.road.platform.model?.setMode(null)
    await rig.replaceRunner()
    expect(await rig.road.jobEnd(jobId)).toMatchObject({ state: "succeeded" })
    expect(rig.road.botComments(2)).toHaveLength(1)
  })

  // F20, R-PROTO-4
  test("ends its engine within a heartbeat when somebody cancels the job", async () => {
    await useKind("dynamic")
    const jobId = await rig.openWhile(3, dripping)
    const cancelledAt = performance.now()
    await cancel(jobId)
    expect(await rig.road.jobEnd(jobId)).toMatchObject({ state: "cancelled", code: "cancelled_by_user" })
    expect(performance.now() - cancelledAt).toBeLessThan(HEARTBEAT_MS + 5_000)
    expect(rig.openCodes()).toEqual([])
    expect(rig.remains().jobs).toEqual([])
    expect(rig.road.botComments(3)).toEqual([])
  })

  // R-PROTO-4
  test("ends its engine within a heartbeat when the pull request is closed", async () => {
    await useKind("diff")
    const jobId = await rig.openWhile(4, silent)
    await rig.road.platform.github.closePullRequest({ repo: REPO, number: 4 })
    expect(await rig.road.jobEnd(jobId)).toMatchObject({ state: "cancelled", code: "pull_request_closed" })
    expect(rig.remains().jobs).toEqual([])
    expect(await rig.runsOf(jobId)).toMatchObject([{ outcome: "cancelled", usage: { modelCalls: 1 } }])
    expect(rig.road.botComments(4)).toEqual([])
  })

  // F24, R-PROTO-4
  test("ends its engine within a heartbeat when a newer head waits and no answer of the model was counted yet", async () => {
    await useKind("diff")
    const jobId = await rig.openWhile(19, silent)
    await rig.road.platform.github.pushHead({ repo: REPO, number: 19 }, rig.road.change.baseSha)
    expect(await rig.road.jobEnd(jobId)).toMatchObject({ state: "superseded", code: "head_superseded" })
    expect(await rig.runsOf(jobId)).toMatchObject([{ outcome: "superseded", usage: { modelCalls: 1 } }])
    // The newer head is the base: there is nothing to review in it.
    expect(await rig.road.jobEnd(await rig.road.nextJob(19, [jobId]))).toMatchObject({ state: "skipped", code: "no_reviewable_files" })
    expect(rig.road.botComments(19)).toEqual([])
  })

  // R-BOUND-8
  test.each(["diff", "dynamic"] as const)("gives a %s engine no secret: not in its processes, not in any file of the job", async (kind) => {
    await useKind(kind)
    const number = kind === "diff" ? 5 : 6
    const answerLate: Parameters<FakeModel["setScript"]>[0] = (_request, call) => (call === 0 ? { delayMs: 6_000 } : {})
    rig.road.platform.model?.setScript(answerLate)
    const jobId = await rig.openWhile(number, null)
    const secrets = rig.secrets()
    const shown = rig.engines().map(({ command, environment }) => `${command}\n${environment}`)
    const files = filesBelow(rig.jobsDirectory)
    expect(await rig.jobRow(jobId)).toMatchObject({ state: "running" })
    expect(shown.length).toBeGreaterThan(0)
    expect(files.length).toBeGreaterThan(10)
    for (const secret of secrets) {
      expect(shown.filter((text) => text.includes(secret))).toEqual([])
      expect(files.filter((path) => readFileSync(path).includes(secret))).toEqual([])
    }
    expect(await rig.road.jobEnd(jobId)).toMatchObject({ state: "succeeded" })
    const log = rig.runner().output().join("\n")
    expect(log).toContain(jobId)
    for (const secret of rig.secrets()) expect(log).not.toContain(secret)
  })

  test("starts no engine when its egress rules are gone, and takes no further job", async () => {
    await useKind("dynamic")
    const before = rig.modelCalls()
    rig.dropEgressRules()
    await rig.road.openPullRequest(18)
    const jobId = await rig.road.nextJob(18, [])
    await rig.runner().waitForLine((line) => line.includes("the boundary does not hold"))
    // Given back, and no failure counted: it is the runner's fault, not the job's.
    expect(await rig.jobRow(jobId)).toMatchObject({ state: "waiting", attempt: 1, failures: 0 })
    expect(await rig.runsOf(jobId)).toMatchObject([{ outcome: "released" }])
    expect(rig.modelCalls()).toBe(before)

    await rig.runner().stop()
    await rig.replaceRunner()
    expect(await rig.road.jobEnd(jobId)).toMatchObject({ state: "succeeded" })
  })
})

describe("the model", () => {
  // F29
  test("that falls silent ends the attempt with model_timeout in its time, and the job waits for another one", async () => {
    await useKind("dynamic")
    const jobId = await rig.openWhile(10, silent)
    const askedAt = performance.now()
    await expect.poll(async () => (await rig.jobRow(jobId)).state, { timeout: 60_000, interval: 100 }).toBe("waiting")
    expect(performance.now() - askedAt).toBeLessThan((MODEL_IDLE_SECONDS + 10) * 1_000)
    expect(await rig.runsOf(jobId)).toMatchObject([{ outcome: "failed", code: "model_timeout", usage: { modelCalls: 1, costUsd: null } }])
    await cancel(jobId)
  })

  // R-GATE-9
  test("that answers 500 ends the attempt with model_upstream_error after one call, and the job waits for another one", async () => {
    await useKind("dynamic")
    const before = rig.modelCalls()
    const jobId = await rig.openWhile(11, { name: "status-500" })
    await expect.poll(async () => (await rig.jobRow(jobId)).state, soon).toBe("waiting")
    expect(await rig.runsOf(jobId)).toMatchObject([{ outcome: "failed", code: "model_upstream_error" }])
    expect(rig.modelCalls()).toBe(before + 1)
    await cancel(jobId)
  })

  // F30
  test.each([
    [12, "dynamic", "no-usage", "model_usage_missing"],
    [13, "dynamic", "finish-length", "model_answer_cut"],
    [14, "dynamic", "no-required-tools", "dynamic_model_features_unsupported"],
    [15, "diff", "no-usage", "model_usage_missing"],
    [16, "diff", "finish-length", "model_answer_cut"],
  ] as const)("pull request %i: a %s review with %s fails with %s, and there is no comment", async (number, kind, name, code) => {
    await useKind(kind)
    const jobId = await rig.openWhile(number, { name })
    expect(await rig.road.jobEnd(jobId)).toMatchObject({ state: "failed", code })
    const [run, ...others] = await rig.runsOf(jobId)
    expect(others).toEqual([])
    expect(run).toMatchObject({ outcome: "failed", code })
    expect(run?.usage.modelCalls).toBeGreaterThan(0)
    expect(rig.road.botComments(number)).toEqual([])
  })

  test("that guesses paths outside the checkout sees nothing there, and the review is finished", async () => {
    await useKind("dynamic")
    const guess = [
      { name: "read", args: { filePath: "/etc/passwd" } },
      { name: "grep", args: { pattern: "root:", path: "/etc" } },
      { name: "glob", args: { pattern: "*", path: "../.." } },
    ]
    rig.road.platform.model?.setScript((_request, call) => (call === 0 ? { calls: guess } : {}))
    const before = rig.modelCalls()
    const jobId = await rig.openWhile(17, null)
    expect(await rig.road.jobEnd(jobId)).toMatchObject({ state: "succeeded" })
    const seen = rig.modelText(before + 1)
    expect(seen).toMatch(/File not found/)
    expect(seen).not.toMatch(/root:x:0|scratch|\/etc\//)
  })
})

describe("a hand-made repository", () => {
  let odd: Awaited<ReturnType<FaultRig["addOddRepositories"]>>
  beforeAll(async () => {
    odd = await rig.addOddRepositories(["ODD02", "ODD04", "ODD05"])
  })

  async function openOdd(id: string, number: number): Promise<string> {
    const { github } = rig.road.platform
    await github.openPullRequest({ repo: `sample/${id.toLowerCase()}`, number, headRef: `change-${number}`, ...odd.change(id) })
    await github.idle()
    return rig.road.nextJob(number, [])
  }

  // ODD02
  test.each([
    [20, "diff"],
    [21, "dynamic"],
  ] as const)("hostile, pull request %i: a %s review springs no trap and lets no credential out", async (number, reviewKind) => {
    await rig.changeSettings("odd02", { reviewKind })
    const before = rig.modelCalls()
    const jobId = await openOdd("ODD02", number)
    expect(await rig.road.jobEnd(jobId)).toMatchObject({ state: "succeeded", run: { result: { coverage: { status: "partial" } } } })
    const comments = rig.road.platform.github.comments({ repo: "sample/odd02", number }).map(({ body }) => body)
    expect(comments).toHaveLength(1)
    expect(rig.modelCalls()).toBeGreaterThan(before)
    expect(rig.modelText(before) + comments.join()).not.toMatch(/SENTINEL-?5[01]\b/)
    expect(rig.runner().output().join("\n")).not.toMatch(/SENTINEL/)
    expect(readdirSync(odd.marks)).toEqual([])
  })

  // ODD04
  test("without a common history fails with merge_base_missing and asks no model", async () => {
    const before = rig.modelCalls()
    expect(await rig.road.jobEnd(await openOdd("ODD04", 22))).toMatchObject({ state: "failed", code: "merge_base_missing" })
    expect(rig.modelCalls()).toBe(before)
  })

  // ODD05, R-CHECKOUT-11
  test("without a change is skipped with no_reviewable_files and asks no model", async () => {
    const before = rig.modelCalls()
    expect(await rig.road.jobEnd(await openOdd("ODD05", 23))).toMatchObject({ state: "skipped", code: "no_reviewable_files" })
    expect(rig.modelCalls()).toBe(before)
    expect(rig.road.platform.github.comments({ repo: "sample/odd05", number: 23 })).toEqual([])
  })
})

/** Every regular file, at any depth. */
function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .map((name) => join(directory, name))
    .filter((path) => lstatSync(path).isFile())
}
