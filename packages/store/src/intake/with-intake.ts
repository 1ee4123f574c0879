import type { Store } from "../database.ts"
import type { DeliveryOutcome } from "../schema.ts"
import { inTransaction, type Transaction } from "../transaction.ts"
import { type IntakeTarget, readTarget } from "./read-target.ts"

/** One verified webhook request. Ids are GitHub's; null where the event has none. */
export interface Delivery {
  hostId: string
  deliveryId: string
  event: string
  action: string | null
  githubInstallationId: number | null
  githubRepositoryId: number | null
  pullRequestNumber: number | null
}

export interface DeliveryVerdict {
  outcome: Exclude<DeliveryOutcome, "received">
  /** Stable word that answers "why no review?", e.g. `draft`; null when a job was queued. */
  reason: string | null
  jobId?: string
}

/** What became of a delivery; a repeated delivery id changes nothing. */
export type TakenDelivery = { duplicate: true } | ({ duplicate: false } & DeliveryVerdict)

/**
 * Takes a delivery in one transaction, for whatever it takes: records it, locks its project against settings changes, hands what is known
 * about its target to `decide`, which applies its decision through the transaction, and keeps the verdict. When it throws, nothing is
 * left behind, so that a redelivery works. `Intake` is the short way of the many deliveries that need no more than their job.
 */
export async function withIntake(
  store: Store,
  delivery: Delivery,
  decide: (tx: Transaction, target: IntakeTarget) => Promise<DeliveryVerdict>,
): Promise<TakenDelivery> {
  return inTransaction(store, async (tx) => {
    // Sent together: one round trip. The first waits for a concurrent twin of the delivery, the rest follow it.
    const [isNew, , target] = await Promise.all([recordDelivery(tx, delivery), lockProject(tx, delivery), readTarget(tx.sql, delivery)])
    if (!isNew) return { duplicate: true }
    const verdict = await decide(tx, target)
    await keepVerdict(tx, delivery, target, verdict)
    return { duplicate: false, ...verdict }
  })
}

async function recordDelivery({ sql }: Transaction, delivery: Delivery): Promise<boolean> {
  const inserted = await sql`
    insert into webhook_deliveries (
      host_id, delivery_id, event, action, pull_request_number, github_installation_id, github_repository_id)
    values (${delivery.hostId}, ${delivery.deliveryId}, ${delivery.event}, ${delivery.action}, ${delivery.pullRequestNumber},
      ${delivery.githubInstallationId}, ${delivery.githubRepositoryId})
    on conflict do nothing`
  return inserted.count === 1
}

async function lockProject({ sql }: Transaction, { hostId, githubRepositoryId }: Delivery): Promise<void> {
  await sql`select from projects where host_id = ${hostId} and github_repository_id = ${githubRepositoryId} for share`
}

async function keepVerdict(
  { sql }: Transaction,
  { hostId, deliveryId }: Delivery,
  { project, installation }: IntakeTarget,
  verdict: DeliveryVerdict,
): Promise<void> {
  await sql`
    update webhook_deliveries set outcome = ${verdict.outcome}, reason = ${verdict.reason}, job_id = ${verdict.jobId ?? null},
      project_id = ${project?.id ?? null}, workspace_id = ${project?.workspaceId ?? installation?.workspaceId ?? null}
    where host_id = ${hostId} and delivery_id = ${deliveryId}`
}
