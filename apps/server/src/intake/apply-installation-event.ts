import type { WebhookEvent, WebhookRepository } from "@galley/github/webhook-event"
import { recordInstallation } from "@galley/store/installations/record-installation"
import { type RepositorySnapshot, recordRepositories } from "@galley/store/installations/record-repositories"
import { removeInstallation } from "@galley/store/installations/remove-installation"
import { removeRepositories } from "@galley/store/installations/remove-repositories"
import { setInstallationSuspended } from "@galley/store/installations/set-installation-suspended"
import type { IntakeTarget } from "@galley/store/intake/read-target"
import type { DeliveryVerdict } from "@galley/store/intake/with-intake"
import type { Transaction } from "@galley/store/transaction"
import type { ServerContext } from "../context.ts"

const accepted = (reason: string): DeliveryVerdict => ({ outcome: "accepted", reason })

/** A repository as a project of the configured GitHub host. */
export function repositorySnapshot(webUrl: string, repository: Pick<WebhookRepository, "id" | "owner" | "name">): RepositorySnapshot {
  const address = `${webUrl}/${repository.owner}/${repository.name}`
  return {
    githubRepositoryId: repository.id,
    owner: repository.owner,
    name: repository.name,
    webUrl: address,
    gitUrl: `${address}.git`,
  }
}

/** Keeps what an event says about installations and repositories. New projects are inactive until somebody activates them. */
export async function applyInstallationEvent(
  context: ServerContext,
  tx: Transaction,
  event: WebhookEvent,
  target: IntakeTarget,
): Promise<DeliveryVerdict> {
  const { hostId, config, workspaceId } = context
  const snapshots = (repositories: readonly WebhookRepository[]) =>
    repositories.map((repository) => repositorySnapshot(config.github.webUrl, repository))
  if (event.type === "installation") {
    const known = target.installation
    if (event.action === "deleted") {
      if (known !== null) await removeInstallation(tx, known)
      return accepted("installation_removed")
    }
    if (event.action === "suspend") {
      if (known !== null) await setInstallationSuspended(tx, known, true)
      return accepted("installation_suspended")
    }
    const installation = await recordInstallation(tx, workspaceId, {
      hostId,
      githubInstallationId: event.installationId ?? 0,
      accountLogin: event.account,
    })
    await recordRepositories(tx, { ...installation, hostId }, snapshots(event.repositories))
    return accepted("installation_recorded")
  }
  if (event.type === "installation_repositories") {
    const installation = await recordInstallation(tx, workspaceId, {
      hostId,
      githubInstallationId: event.installationId ?? 0,
      accountLogin: event.account,
    })
    await recordRepositories(tx, { ...installation, hostId }, snapshots(event.added))
    await removeRepositories(tx, { ...installation, hostId }, event.removed)
    return accepted("repositories_recorded")
  }
  return applyRepositoryEvent(context, tx, event, target)
}

async function applyRepositoryEvent(
  { hostId, config }: ServerContext,
  tx: Transaction,
  event: WebhookEvent,
  { project }: IntakeTarget,
): Promise<DeliveryVerdict> {
  if (event.type !== "repository" || project === null) return { outcome: "ignored", reason: "unknown_repository" }
  const owner = { id: project.installationId, workspaceId: project.workspaceId, hostId }
  if (event.action === "deleted" || event.action === "archived") await removeRepositories(tx, owner, [event.repository.id])
  else await recordRepositories(tx, owner, [repositorySnapshot(config.github.webUrl, event.repository)])
  return accepted(`repository_${event.action}`)
}
