import type { GalleyErrorCode } from "@galley/contract/errors"
import postgres from "postgres"
import { uuidv7 } from "uuidv7"
import type { Store } from "../database.ts"
import { AUTOMATIC_PRIORITY } from "../queue/job.ts"
import { wakeJobs } from "../transaction.ts"
import { type IntakeTarget, readTarget } from "./read-target.ts"
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

const UNIQUE_VIOLATION = "23505"

/**
 * Takes a delivery in two round trips: one reads its target, one applies what `decide` (pure) made of that and commits. If installation or
 * project changed in between, nothing was done and `decide` is asked again, so that a decision is never applied to a state it was not made
 * for. When it throws, nothing is left behind. Null when `decide` says so: this delivery needs `withIntake`.
 */
export async function takeDelivery(
  store: Store,
  delivery: Delivery,
  decide: (target: IntakeTarget) => DecidedDelivery | null,
): Promise<TakenDelivery | null> {
  for (;;) {
    const target = await readTarget(store.sql, delivery)
    const decided = decide(target)
    if (decided === null) return null
    const taken = await apply(store, delivery, target, decided)
    if (taken !== null) return taken
  }
}

/** Null when the target is no longer what was read. */
async function apply(store: Store, delivery: Delivery, target: IntakeTarget, decided: DecidedDelivery): Promise<TakenDelivery | null> {
  const { sql } = store
  const { project, installation } = target
  const { pullRequest } = decided
  const said = {
    host_id: delivery.hostId,
    delivery_id: delivery.deliveryId,
    event: delivery.event,
    action: delivery.action,
    workspace_id: project?.workspaceId ?? installation?.workspaceId ?? null,
    project_id: project?.id ?? null,
    pull_request_number: delivery.pullRequestNumber,
    github_installation_id: delivery.githubInstallationId,
    github_repository_id: delivery.githubRepositoryId,
  }
  const pull = project !== null && pullRequest !== null ? sql.json(pullRequestRow(project, pullRequest)) : null
  try {
    const [row] = await sql<[(Omit<DeliveryVerdict, "outcome"> & { outcome: DeliveryVerdict["outcome"] | "duplicate"; delayMs: number })?]>`
      select outcome, reason, job_id as "jobId", delay_ms as "delayMs"
      from take_delivery(${sql.json(said)}, ${target.version}, ${sql.json(stepOf(decided, target))}, ${pull})`
    if (row === undefined) return null
    const { outcome, reason, jobId, delayMs } = row
    if (outcome === "duplicate") return { duplicate: true }
    if (outcome !== "queued" || jobId === undefined) return { duplicate: false, outcome, reason }
    wakeJobs(store, delayMs)
    return { duplicate: false, outcome, reason, jobId }
  } catch (error) {
    // A twin of the delivery was committed first. The next look finds it.
    if (error instanceof postgres.PostgresError && error.code === UNIQUE_VIOLATION && error.table_name === "webhook_deliveries") return null
    throw error
  }
}

/** The step in the words of the SQL function. */
function stepOf({ step, pullRequest }: DecidedDelivery, { project }: IntakeTarget) {
  if (step.action === "ignore") return step
  if (step.action === "cancel") return { action: step.action, reason: step.code }
  if (project === null || pullRequest === null) throw new Error("a job needs a project and a pull request")
  const job = {
    id: uuidv7(),
    workspace_id: project.workspaceId,
    project_id: project.id,
    cause: "event",
    review_kind: project.settings.reviewKind,
    head_sha: pullRequest.headSha,
    base_sha: pullRequest.baseSha,
    head_updated_at: pullRequest.updatedAt.toISOString(),
    priority: AUTOMATIC_PRIORITY,
  }
  return { action: step.action, debounceMs: step.debounceMs, job }
}
