import type { EventOf, WebhookRepository } from "@galley/github/webhook-event"
import { recordInstallation } from "@galley/store/installations/record-installation"
import { type RepositorySnapshot, recordRepositories } from "@galley/store/installations/record-repositories"
import { removeInstallation } from "@galley/store/installations/remove-installation"
import { removeRepositories } from "@galley/store/installations/remove-repositories"
import { suspendInstallation } from "@galley/store/installations/suspend-installation"
import type { DeliveryVerdict, IntakeInstallation, IntakeProject } from "@galley/store/intake/with-intake"
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

/** Keeps what an event says about installations and their repositories. New projects are inactive until somebody activates them. */
export async function applyInstallationEvent(
  { hostId, config, workspaceId }: ServerContext,
  tx: Transaction,
  event: EventOf<"installation" | "installation_repositories">,
  known: IntakeInstallation | null,
): Promise<DeliveryVerdict> {
  if (event.action === "deleted") {
    if (known !== null) await removeInstallation(tx, known)
    return accepted("installation_removed")
  }
  if (event.action === "suspend") {
    if (known !== null) await suspendInstallation(tx, known)
    return accepted("installation_suspended")
  }
  const isLive = event.action === "created" || event.action === "unsuspend"
  const snapshot = { hostId, githubInstallationId: event.installationId, accountLogin: event.account, isLive }
  const owner = { ...(await recordInstallation(tx, workspaceId, snapshot)), hostId }
  const added = event.type === "installation" ? event.repositories : event.added
  const snapshots = added.map((repository) => repositorySnapshot(config.github.webUrl, repository))
  await recordRepositories(tx, owner, snapshots)
  if (event.type === "installation") return accepted("installation_recorded")
  await removeRepositories(tx, owner, event.removed)
  return accepted("repositories_recorded")
}

/** Keeps what an event says about a repository that is known. */
export async function applyRepositoryEvent(
  { hostId, config }: ServerContext,
  tx: Transaction,
  event: EventOf<"repository">,
  project: IntakeProject,
): Promise<DeliveryVerdict> {
  const owner = { id: project.installationId, workspaceId: project.workspaceId, hostId }
  if (event.action === "deleted" || event.action === "archived") await removeRepositories(tx, owner, [event.repository.id])
  else await recordRepositories(tx, owner, [repositorySnapshot(config.github.webUrl, event.repository)])
  return accepted(`repository_${event.action}`)
}
