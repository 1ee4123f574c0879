import type { ReviewHealth } from "@galley/store/health/read-review-health"

/** Seconds after which waiting is no longer ordinary; `docs/operating.md` tells operators the same numbers. */
export const healthThresholds = {
  /** A job that is due, with runners that offer its kind: they are busy, or the workspace's cap is reached. */
  waitingSeconds: 1_800,
  /** A job that is due, and no live runner offers its kind. */
  unofferedSeconds: 120,
  /** Leases are settled every five seconds and by each claim. */
  expiredLeaseSeconds: 60,
  /** A stored result; a rate limit of GitHub may put a publication off for up to an hour. */
  publicationSeconds: 600,
  /** A failed delivery is asked for again within a minute or two, and then twice more within the hour. */
  failedDeliverySeconds: 3_600,
  /** GitHub's list of deliveries is read every minute. */
  reconcilerSeconds: 900,
} as const

export type HealthCheck = Readonly<{
  check: string
  ok: boolean
  /** Of the oldest thing that waits; null when nothing does. */
  ageSeconds: number | null
  /** Where it is known. */
  count?: number
  /** Of a check of one review kind: whether live runners offer it to every job that is due. */
  offered?: boolean
}>

export type HealthVerdict = Readonly<{ status: "ok" | "failing"; checks: readonly HealthCheck[] }>

/**
 * Judges whether reviews get through. Pure.
 *
 * @param startedAt when this server began: before the reconciler had time for a first pass, its absence says nothing
 */
export function judgeHealth(facts: ReviewHealth, startedAt: Date): HealthVerdict {
  const limits = healthThresholds
  const age = (since: Date | null) => (since === null ? null : Math.max(0, Math.floor((facts.now.getTime() - since.getTime()) / 1_000)))
  const within = (check: string, since: Date | null, limit: number, more: Partial<HealthCheck> = {}): HealthCheck => {
    const ageSeconds = age(since)
    return { check, ok: ageSeconds === null || ageSeconds <= limit, ageSeconds, ...more }
  }
  const waiting = facts.waiting.map(({ kind, oldestDueAt, oldestUnofferedDueAt }) => {
    const offered = within(`waiting_${kind}`, oldestDueAt, limits.waitingSeconds, { offered: oldestUnofferedDueAt === null })
    return { ...offered, ok: offered.ok && within("", oldestUnofferedDueAt, limits.unofferedSeconds).ok }
  })
  const checks = [
    ...waiting,
    within("expired_leases", facts.expiredLeases.oldestAt, limits.expiredLeaseSeconds, { count: facts.expiredLeases.count }),
    within("publications", facts.publications.oldestAt, limits.publicationSeconds, { count: facts.publications.count }),
    within("failed_deliveries", facts.failedDeliveries.oldestAt, limits.failedDeliverySeconds, { count: facts.failedDeliveries.count }),
    within("reconciler", facts.deliveriesReadAt ?? startedAt, limits.reconcilerSeconds),
    { check: "dead_tasks", ok: facts.deadTasks === 0, ageSeconds: null, count: facts.deadTasks },
    { check: "exhausted_jobs", ok: facts.exhaustedJobs === 0, ageSeconds: null, count: facts.exhaustedJobs },
  ]
  return { status: checks.every(({ ok }) => ok) ? "ok" : "failing", checks }
}
