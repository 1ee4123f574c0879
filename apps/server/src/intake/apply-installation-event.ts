import type { EventOf, WebhookRepository } from "@galley/github/webhook-event"
import { noteInstallationChange } from "@galley/store/installations/note-installation-change"
import { recordInstallation } from "@galley/store/installations/record-installation"
import { type RepositorySnapshot, recordRepositories } from "@galley/store/installations/record-repositories"
import { removeInstallation } from "@galley/store/installations/remove-installation"
import { removeRepositories } from "@galley/store/installations/remove-repositories"
import { suspendInstallation } from "@galley/store/installations/suspend-installation"
import { updateRepository } from "@galley/store/installations/update-repository"
import type { IntakeInstallation, IntakeProject } from "@galley/store/intake/read-target"
import type { DeliveryVerdict } from "@galley/store/intake/with-intake"
import type { Transaction } from "@galley/store/transaction"
import type { ServerContext } from "../context.ts"

const accepted = (reason: string): DeliveryVerdict => ({ outcome: "accepted", reason })
const overtaken: DeliveryVerdict = { outcome: "ignored", reason: "overtaken" }

/** A repository as a project of the configured GitHub host. */
export function repositorySnapshot(
  webUrl: string,
  repository: Pick<WebhookRepository, "id" | "owner" | "name" | "private">,
): RepositorySnapshot {
  const address = `${webUrl}/${repository.owner}/${repository.name}`
  return {
    githubRepositoryId: repository.id,
    owner: repository.owner,
    name: repository.name,
    webUrl: address,
    gitUrl: `${address}.git`,
    private: repository.private,
  }
}

/**
 * Keeps what an event says about an installation and its repositories. New projects are inactive until somebody activates them. What an event
 * of the wrong moment leaves wrong, the hourly look at GitHub's own lists puts right.
 */
export async function applyInstallationEvent(
  context: ServerContext,
  tx: Transaction,
  event: EventOf<"installation" | "installation_repositories">,
  known: IntakeInstallation | null,
): Promise<DeliveryVerdict> {
  return event.type === "installation" ? applyToInstallation(context, tx, event, known) : applyToRepositories(context, tx, event, known)
}

async function applyToInstallation(
  { hostId, config, workspaceId }: ServerContext,
  tx: Transaction,
  event: EventOf<"installation">,
  known: IntakeInstallation | null,
): Promise<DeliveryVerdict> {
  if (known !== null && !(await noteInstallationChange(tx, known, event.changedAt))) return overtaken
  if (event.action === "deleted") {
    if (known !== null) await removeInstallation(tx, known)
    return accepted("installation_removed")
  }
  if (event.action === "suspend") {
    if (known !== null) await suspendInstallation(tx, known)
    return accepted("installation_suspended")
  }
  const installation = await recordInstallation(tx, workspaceId, {
    hostId,
    githubInstallationId: event.installationId,
    accountLogin: event.account,
    permissions: event.permissions,
    isLive: event.action === "created" || event.action === "unsuspend",
  })
  if (known === null) await noteInstallationChange(tx, installation, event.changedAt)
  if (event.suspended) await suspendInstallation(tx, installation)
  const snapshots = event.repositories.map((repository) => repositorySnapshot(config.github.webUrl, repository))
  await recordRepositories(tx, { ...installation, hostId }, snapshots)
  return accepted("installation_recorded")
}

/** Says nothing of whether the installation is suspended. */
async function applyToRepositories(
  { hostId, config, workspaceId }: ServerContext,
  tx: Transaction,
  event: EventOf<"installation_repositories">,
  known: IntakeInstallation | null,
): Promise<DeliveryVerdict> {
  if (known?.removed) return overtaken
  const snapshot = { hostId, githubInstallationId: event.installationId, accountLogin: event.account, isLive: false }
  const { id, workspaceId: owner } = known ?? (await recordInstallation(tx, workspaceId, snapshot))
  const installation = { id, workspaceId: owner, hostId }
  const added = event.added.map((repository) => repositorySnapshot(config.github.webUrl, repository))
  await recordRepositories(tx, installation, added)
  await removeRepositories(tx, installation, event.removed)
  return accepted("repositories_recorded")
}

/** Keeps what an event says about a repository that is known. */
export async function applyRepositoryEvent(
  { hostId, config }: ServerContext,
  tx: Transaction,
  event: EventOf<"repository">,
  project: IntakeProject,
): Promise<DeliveryVerdict> {
  const installation = { id: project.installationId, workspaceId: project.workspaceId, hostId }
  const snapshot = repositorySnapshot(config.github.webUrl, event.repository)
  // A new owner has an installation of his own, or none: the project is no longer this one's. Where it is, that installation says.
  const leaves = event.action === "transferred" && event.installationId === null
  if (event.action === "unarchived") await recordRepositories(tx, installation, [snapshot])
  else await updateRepository(tx, project, snapshot)
  // Nothing can be written to an archived one.
  if (event.action === "deleted" || event.archived || event.action === "archived" || leaves) {
    await removeRepositories(tx, installation, [event.repository.id])
  }
  return accepted(`repository_${event.action}`)
}
