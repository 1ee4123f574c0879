import { errorCode } from "@galley/contract/errors"
import type { Installation } from "@galley/github/github-app"
import { isInstalled } from "@galley/github/is-installed"
import { findInstallation } from "@galley/store/installations/find-installation"
import { listUnlistedInstallations } from "@galley/store/installations/list-unlisted-installations"
import { noteInstallationChange } from "@galley/store/installations/note-installation-change"
import { recordInstallation } from "@galley/store/installations/record-installation"
import { recordRepositories } from "@galley/store/installations/record-repositories"
import { removeInstallation } from "@galley/store/installations/remove-installation"
import { removeRepositories } from "@galley/store/installations/remove-repositories"
import { suspendInstallation } from "@galley/store/installations/suspend-installation"
import { inTransaction, type Transaction } from "@galley/store/transaction"
import type { ServerContext } from "../context.ts"
import { repositorySnapshot } from "../intake/apply-installation-event.ts"

/**
 * Records an installation and its repositories as GitHub lists them now. A repository that is no longer listed stays: a webhook may just
 * have added it, and a job there ends with `repository_gone` by itself.
 */
export async function syncInstallation(context: ServerContext, installation: Installation): Promise<void> {
  const { store, github, hostId, config } = context
  const repositories = installation.suspended ? [] : await github.listRepositories(installation.id)
  const live = repositories.filter((repository) => !repository.archived)
  const archived = repositories.filter((repository) => repository.archived)
  await inTransaction(store, async (tx) => {
    const owner = { ...(await syncState(context, tx, installation)), hostId }
    await recordRepositories(
      tx,
      owner,
      live.map((repository) => repositorySnapshot(config.github.webUrl, repository)),
    )
    await removeRepositories(
      tx,
      owner,
      archived.map(({ id }) => id),
    )
  })
}

/** A webhook may have told of a change since the list was read; that one is not undone. */
async function syncState({ hostId, workspaceId }: ServerContext, tx: Transaction, installation: Installation) {
  const known = await findInstallation(tx.sql, hostId, installation.id)
  if (known !== null && known.changedAt !== null && known.changedAt > installation.changedAt) return known
  const recorded = await recordInstallation(tx, workspaceId, {
    hostId,
    githubInstallationId: installation.id,
    accountLogin: installation.account,
    permissions: installation.permissions,
    isLive: true,
  })
  await noteInstallationChange(tx, recorded, installation.changedAt)
  if (installation.suspended) await suspendInstallation(tx, recorded)
  return recorded
}

/**
 * Every installation of the App; one that cannot be read does not keep the others back.
 *
 * @returns GitHub's ids of the installations, and what went wrong with single ones
 * @throws codes of `githubFault` when they cannot be listed
 */
async function syncListed(context: ServerContext): Promise<{ ids: number[]; faults: unknown[] }> {
  const listed = await context.github.listInstallations()
  const faults: unknown[] = []
  for (const installation of listed) {
    await syncInstallation(context, installation).catch((error: unknown) => {
      context.log.warn({ installation: installation.id, code: errorCode(error), err: error }, "installation could not be read")
      faults.push(error)
    })
  }
  return { ids: listed.map(({ id }) => id), faults }
}

/** Learns what was installed before the server ran. @throws codes of `githubFault` */
export async function syncInstallations(context: ServerContext): Promise<void> {
  const { faults } = await syncListed(context)
  if (faults.length > 0) throw faults[0]
}

/** As `syncInstallations`, and ends what GitHub no longer has, should its event have been lost. @throws codes of `githubFault` */
export async function reconcileInstallations(context: ServerContext): Promise<void> {
  const { store, github, hostId } = context
  const { ids, faults } = await syncListed(context)
  for (const unlisted of await listUnlistedInstallations(store, hostId, ids)) {
    // Asked for by itself: the list may be older than the installation.
    if (await isInstalled(github.asApp, unlisted.githubInstallationId)) continue
    await inTransaction(store, (tx) => removeInstallation(tx, unlisted))
  }
  if (faults.length > 0) throw faults[0]
}
