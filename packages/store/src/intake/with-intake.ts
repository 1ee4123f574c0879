import { ProjectSettings } from "@galley/contract/settings"
import type { Store } from "../database.ts"
import type { DeliveryOutcome } from "../schema.ts"
import { inTransaction, type Transaction } from "../transaction.ts"

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

export interface IntakeInstallation {
  id: string
  workspaceId: string
  suspended: boolean
  removed: boolean
}

export interface IntakeProject {
  id: string
  workspaceId: string
  /** Installation that owns it. */
  installationId: string
  settings: ProjectSettings
  removed: boolean
}

export interface KnownPullRequest {
  id: string
  headSha: string
  baseSha: string
  lastReviewedSha: string | null
  updatedAt: Date
}

/**
 * What the database knows about where a delivery belongs. A project counts only for an event of the installation that owns it, so that
 * tenants are never mixed, also not on the pages that show deliveries. It stays locked against settings changes until commit.
 */
export interface IntakeTarget {
  installation: IntakeInstallation | null
  project: IntakeProject | null
  pullRequest: KnownPullRequest | null
}

export interface DeliveryVerdict {
  outcome: Exclude<DeliveryOutcome, "received">
  /** Stable word that answers "why no review?", e.g. `draft`; null when a job was queued. */
  reason: string | null
  jobId?: string
}

/**
 * Takes a delivery in one transaction: records it, hands what is known about its target to `decide`, which applies its decision through
 * the transaction (`upsertPullRequest`, `enqueueJob`, `cancelWaitingJobs`, tasks ...), and keeps the verdict. A repeated delivery id
 * changes nothing. When it throws, nothing is left behind, so that a redelivery works.
 */
export async function withIntake(
  store: Store,
  delivery: Delivery,
  decide: (tx: Transaction, target: IntakeTarget) => Promise<DeliveryVerdict>,
): Promise<{ duplicate: true } | ({ duplicate: false } & DeliveryVerdict)> {
  return inTransaction(store, async (tx) => {
    // Sent together: one round trip. The first waits for a concurrent twin of the delivery, the rest follow it.
    const [isNew, installation, project, pullRequest] = await Promise.all([
      recordDelivery(tx, delivery),
      findInstallation(tx, delivery),
      lockProject(tx, delivery),
      findPullRequest(tx, delivery),
    ])
    if (!isNew) return { duplicate: true }
    const verdict = await decide(tx, { installation, project, pullRequest })
    await keepVerdict(tx, delivery, project, installation, verdict)
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

async function findInstallation({ sql }: Transaction, delivery: Delivery): Promise<IntakeInstallation | null> {
  const [row] = await sql<[IntakeInstallation?]>`
    select id, workspace_id as "workspaceId", suspended_at is not null as suspended, removed_at is not null as removed
    from installations where host_id = ${delivery.hostId} and github_installation_id = ${delivery.githubInstallationId}`
  return row ?? null
}

async function lockProject({ sql }: Transaction, delivery: Delivery): Promise<IntakeProject | null> {
  const [row] = await sql<[(Omit<IntakeProject, "settings"> & { settings: unknown })?]>`
    select p.id, p.workspace_id as "workspaceId", p.installation_id as "installationId", p.settings, p.removed_at is not null as removed
    from projects p join installations i on i.id = p.installation_id
    where p.host_id = ${delivery.hostId} and p.github_repository_id = ${delivery.githubRepositoryId}
      and (${delivery.githubInstallationId}::bigint is null or i.github_installation_id = ${delivery.githubInstallationId})
    for share of p`
  return row ? { ...row, settings: ProjectSettings.parse(row.settings) } : null
}

async function findPullRequest({ sql }: Transaction, delivery: Delivery): Promise<KnownPullRequest | null> {
  const [row] = await sql<[KnownPullRequest?]>`
    select q.id, q.head_sha as "headSha", q.base_sha as "baseSha", q.last_reviewed_sha as "lastReviewedSha", q.updated_at as "updatedAt"
    from projects p join pull_requests q on q.project_id = p.id and q.number = ${delivery.pullRequestNumber}
    where p.host_id = ${delivery.hostId} and p.github_repository_id = ${delivery.githubRepositoryId}`
  return row ?? null
}

async function keepVerdict(
  { sql }: Transaction,
  { hostId, deliveryId }: Delivery,
  project: IntakeProject | null,
  installation: IntakeInstallation | null,
  verdict: DeliveryVerdict,
): Promise<void> {
  await sql`
    update webhook_deliveries set outcome = ${verdict.outcome}, reason = ${verdict.reason}, job_id = ${verdict.jobId ?? null},
      project_id = ${project?.id ?? null}, workspace_id = ${project?.workspaceId ?? installation?.workspaceId ?? null}
    where host_id = ${hostId} and delivery_id = ${deliveryId}`
}
