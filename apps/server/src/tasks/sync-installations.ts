import type { Installation } from "@galley/github/github-app"
import { recordInstallation } from "@galley/store/installations/record-installation"
import { recordRepositories } from "@galley/store/installations/record-repositories"
import { setInstallationSuspended } from "@galley/store/installations/set-installation-suspended"
import { inTransaction } from "@galley/store/transaction"
import type { ServerContext } from "../context.ts"
import { repositorySnapshot } from "../intake/apply-installation-event.ts"

/**
 * Records an installation and its repositories as GitHub lists them now; needed for what was installed before the server ran. What is no
 * longer listed stays: a webhook may just have added it, and a job there ends with `installation_gone` or `repository_gone` by itself.
 */
export async function syncInstallation(context: ServerContext, installation: Installation): Promise<void> {
  const { store, github, hostId, workspaceId, config } = context
  const repositories = installation.suspended ? [] : await github.listRepositories(installation.id)
  await inTransaction(store, async (tx) => {
    const recorded = await recordInstallation(tx, workspaceId, {
      hostId,
      githubInstallationId: installation.id,
      accountLogin: installation.account,
    })
    if (installation.suspended) await setInstallationSuspended(tx, recorded, true)
    const live = repositories.filter((repository) => !repository.archived)
    await recordRepositories(
      tx,
      { ...recorded, hostId },
      live.map((repository) => repositorySnapshot(config.github.webUrl, repository)),
    )
  })
}

/** Every installation of the App; one that cannot be read does not keep the others back. @throws codes of `githubFault` */
export async function syncInstallations(context: ServerContext): Promise<void> {
  const faults: unknown[] = []
  for (const installation of await context.github.listInstallations()) {
    await syncInstallation(context, installation).catch((error: unknown) => faults.push(error))
  }
  if (faults.length > 0) throw faults[0]
}
