import type { ReviewHealth } from "@galley/store/health/read-review-health"
import { expect, test } from "vitest"
import { healthThresholds, judgeHealth } from "./judge-health.ts"

const NOW = new Date("2026-11-30T12:00:00Z")
const ago = (seconds: number) => new Date(NOW.getTime() - seconds * 1_000)
const none = { count: 0, oldestAt: null }

function judge(facts: Partial<ReviewHealth>, startedAt = NOW) {
  const calm = {
    now: NOW,
    waiting: [],
    expiredLeases: none,
    publications: none,
    failedDeliveries: none,
    deliveriesReadAt: NOW,
    deadTasks: 0,
    exhaustedJobs: 0,
  }
  const verdict = judgeHealth({ ...calm, ...facts }, startedAt)
  return { status: verdict.status, failing: verdict.checks.filter(({ ok }) => !ok).map(({ check }) => check), checks: verdict.checks }
}

test("is well when nothing waits", () => {
  expect(judge({})).toMatchObject({ status: "ok", failing: [] })
})

const waitingJob = (dueSeconds: number, unofferedSeconds: number | null): Partial<ReviewHealth> => ({
  waiting: [
    { kind: "dynamic", oldestDueAt: ago(dueSeconds), oldestUnofferedDueAt: unofferedSeconds === null ? null : ago(unofferedSeconds) },
  ],
})

const table: [string, Partial<ReviewHealth>, string[]][] = [
  ["a job that busy runners will take", waitingJob(healthThresholds.waitingSeconds, null), []],
  ["a job that runners leave waiting", waitingJob(healthThresholds.waitingSeconds + 1, null), ["waiting_dynamic"]],
  ["a job whose runner may just be starting", waitingJob(120, healthThresholds.unofferedSeconds), []],
  ["a job that no runner can take", waitingJob(121, healthThresholds.unofferedSeconds + 1), ["waiting_dynamic"]],
  ["a lease that is being settled", { expiredLeases: { count: 1, oldestAt: ago(60) } }, []],
  ["a lease that nobody settles", { expiredLeases: { count: 1, oldestAt: ago(61) } }, ["expired_leases"]],
  ["a result that is being published", { publications: { count: 4, oldestAt: ago(600) } }, []],
  ["a result that is not published", { publications: { count: 4, oldestAt: ago(601) } }, ["publications"]],
  ["a failed delivery that was asked for", { failedDeliveries: { count: 1, oldestAt: ago(3_600) } }, []],
  ["a failed delivery that does not come", { failedDeliveries: { count: 1, oldestAt: ago(3_601) } }, ["failed_deliveries"]],
  ["a reconciler that stopped", { deliveriesReadAt: ago(901) }, ["reconciler"]],
  ["a task that was given up", { deadTasks: 1 }, ["dead_tasks"]],
  ["a job that failed at every attempt", { exhaustedJobs: 1 }, ["exhausted_jobs"]],
]
test.each(table)("judges %s", (_, facts, failing) => {
  expect(judge(facts)).toMatchObject({ status: failing.length === 0 ? "ok" : "failing", failing })
})

test("gives the reconciler of a new server time for its first pass", () => {
  expect(judge({ deliveriesReadAt: null }, ago(900)).status).toBe("ok")
  expect(judge({ deliveriesReadAt: null }, ago(901)).failing).toEqual(["reconciler"])
})

test("tells for each kind whether runners offer it", () => {
  expect(judge(waitingJob(10, 10)).checks[0]).toEqual({ check: "waiting_dynamic", ok: true, ageSeconds: 10, offered: false })
  expect(judge(waitingJob(10, null)).checks[0]).toMatchObject({ offered: true })
})
