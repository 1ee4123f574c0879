import type { GalleyErrorCode } from "@galley/contract/errors"
import postgres from "postgres"
import { uuidv7 } from "uuidv7"
import { createBatcher } from "../batch.ts"
import type { Store } from "../database.ts"
import { AUTOMATIC_PRIORITY } from "../queue/job.ts"
import { wakeJobs } from "../transaction.ts"
import { type IntakeTarget, readTargets } from "./read-target.ts"
import { type PullRequestSnapshot, pullRequestRow } from "./upsert-pull-request.ts"
import type { Delivery, DeliveryVerdict, TakenDelivery } from "./with-intake.ts"

/** What a delivery leads to when it needs no more than its pull request and that one's waiting job. */
export type DeliveryStep =
  | { action: "ignore"; reason: string }
  | { action: "cancel"; code: GalleyErrorCode }
  | { action: "enqueue"; debounceMs: number }

export interface DecidedDelivery {
  step: DeliveryStep
  /** What the event says of its pull request; kept, whatever is decided, when the project is `target.project`. Null: nothing is kept. */
  pullRequest: PullRequestSnapshot | null
}

/** Takes deliveries that need no more than their pull request and that one's waiting job. */
export interface Intake {
  /**
   * Applies what `decide` (pure) makes of the delivery's target, with one commit that other deliveries of the moment share. The target is
   * remembered from an earlier delivery or read now; if installation or project changed since, nothing is done and `decide` is asked again,
   * so that a decision is never applied to a state it was not made for. When it throws, nothing is left behind. Null when `decide` says so,
   * or when another state of the same second is known and only GitHub can tell which is the later one: the delivery needs `withIntake`.
   *
   * @param needsPullRequest whether `decide` looks at `target.pullRequest`, which is not remembered and null otherwise
   */
  take(
    delivery: Delivery,
    decide: (target: IntakeTarget) => DecidedDelivery | null,
    needsPullRequest?: boolean,
  ): Promise<TakenDelivery | null>
}

/** Targets in memory: settings of a project are at most 20 KiB. */
const MAX_REMEMBERED = 1_000
const UNIQUE_VIOLATION = "23505"

export function openIntake(store: Store): Intake {
  const { sql } = store
  const read = createBatcher<Delivery, IntakeTarget>((deliveries) => readTargets(sql, deliveries))
  const apply = createBatcher<ReturnType<typeof requestOf>, AppliedRow>(
    (requests) => sql<AppliedRow[]>`
      select outcome, reason, job_id as "jobId", delay_ms as "delayMs"
      from take_delivery_batch(${sql.json(batchOf(requests))}) order by place`,
    ({ delivery: { project_id, pull_request_number, delivery_id } }) =>
      project_id === null ? delivery_id : `${project_id} ${pull_request_number}`,
  )
  // Never trusted: the database compares versions before it does anything.
  const known = new Map<string, IntakeTarget>()
  const remember = (place: string, target: IntakeTarget) => {
    if (known.size >= MAX_REMEMBERED) known.clear()
    known.set(place, { ...target, pullRequest: null })
  }
  return {
    async take(delivery, decide, needsPullRequest = false) {
      const place = `${delivery.hostId} ${delivery.githubInstallationId} ${delivery.githubRepositoryId}`
      for (;;) {
        const remembered = needsPullRequest ? undefined : known.get(place)
        const target = remembered ?? (await read(delivery))
        if (remembered === undefined) remember(place, target)
        const decided = decide(target)
        if (decided === null) return null
        const row = await apply(requestOf(delivery, target, decided)).catch(askAgainAfterTwin)
        if (row.outcome === "duplicate") return { duplicate: true }
        if (row.outcome === "changed") {
          known.delete(place)
          continue
        }
        if (row.outcome === "tied") return null
        if (row.outcome !== "queued") return { duplicate: false, outcome: row.outcome, reason: row.reason }
        wakeJobs(store, row.delayMs)
        return { duplicate: false, outcome: row.outcome, reason: row.reason, jobId: row.jobId }
      }
    },
  }
}

interface AppliedRow {
  outcome: DeliveryVerdict["outcome"] | "duplicate" | "changed" | "tied"
  reason: string | null
  /** With `delayMs`, of a queued delivery alone. */
  jobId: string
  delayMs: number
}

/** A twin of the delivery was committed first: the next look finds it. */
function askAgainAfterTwin(error: unknown): AppliedRow {
  const isTwin = error instanceof postgres.PostgresError && error.code === UNIQUE_VIOLATION && error.table_name === "webhook_deliveries"
  if (!isTwin) throw error
  return { outcome: "changed", reason: null, jobId: "", delayMs: 0 }
}

/** One delivery in the words of the SQL function. */
function requestOf(delivery: Delivery, target: IntakeTarget, decided: DecidedDelivery) {
  const { project, installation, version } = target
  const { step, pullRequest } = decided
  const pull = project !== null && pullRequest !== null ? pullRequestRow(project, pullRequest) : null
  return {
    delivery: {
      host_id: delivery.hostId,
      delivery_id: delivery.deliveryId,
      event: delivery.event,
      action: delivery.action,
      workspace_id: project?.workspaceId ?? installation?.workspaceId ?? null,
      project_id: project?.id ?? null,
      pull_request_number: delivery.pullRequestNumber,
      github_installation_id: delivery.githubInstallationId,
      github_repository_id: delivery.githubRepositoryId,
      seen: version,
      step: step.action,
      reason: step.action === "ignore" ? step.reason : step.action === "cancel" ? step.code : null,
      said_at: pull?.updated_at ?? null,
    },
    pull,
    job: step.action === "enqueue" ? jobOf(step.debounceMs, decided, target) : null,
  }
}

/** Each row with the number of its delivery; a delivery without a pull request or job has no row there. */
function batchOf(requests: readonly ReturnType<typeof requestOf>[]) {
  return {
    deliveries: requests.map(({ delivery }, place) => ({ ...delivery, place })),
    pulls: requests.flatMap(({ pull }, place) => (pull === null ? [] : [{ ...pull, place }])),
    jobs: requests.flatMap(({ job }, place) => (job === null ? [] : [{ ...job, place }])),
  }
}

/** The wanted job of an event. */
function jobOf(debounceMs: number, { pullRequest }: DecidedDelivery, { project }: IntakeTarget) {
  if (project === null || pullRequest === null) throw new Error("a job needs a project and a pull request")
  const updatedAt = pullRequest.updatedAt.toISOString()
  return {
    id: uuidv7(),
    workspace_id: project.workspaceId,
    project_id: project.id,
    number: pullRequest.number,
    said_at: updatedAt,
    cause: "event",
    review_kind: project.settings.reviewKind,
    head_sha: pullRequest.headSha,
    base_sha: pullRequest.baseSha,
    head_updated_at: updatedAt,
    priority: AUTOMATIC_PRIORITY,
    debounce_ms: debounceMs,
  }
}
