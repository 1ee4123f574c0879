import { errorCode } from "@galley/contract/errors"
import type { Installation } from "@galley/github/github-app"
import { recordInstallation } from "@galley/store/installations/record-installation"
import { recordRepositories } from "@galley/store/installations/record-repositories"
import { suspendInstallation } from "@galley/store/installations/suspend-installation"
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
      isLive: true,
    })
    if (installation.suspended) await suspendInstallation(tx, recorded)
    const live = repositories.filter((repository) => !repository.archived)
    await recordRepositories(
      tx,
      { ...recorded, hostId },
      live.map((repository) => repositorySnapshot(config.github.webUrl, repository)),
    )
  })
}

/**
 * Every installation of the App; one that cannot be read does not keep the others back.
 *
 * @throws the first fault, once all were tried: the task then runs again
 */
export async function syncInstallations(context: ServerContext): Promise<void> {
  const faults: unknown[] = []
  for (const installation of await context.github.listInstallations()) {
    await syncInstallation(context, installation).catch((error: unknown) => {
      context.log.warn({ installation: installation.id, code: errorCode(error), err: error }, "installation could not be read")
      faults.push(error)
    })
  }
  if (faults.length > 0) throw faults[0]
}
