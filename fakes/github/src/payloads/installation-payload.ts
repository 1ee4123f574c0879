import type { Context } from "../context.ts"
import type { Delivery, Installation, Repository } from "../state.ts"
import { accountView } from "../views/account-view.ts"
import { installationView } from "../views/installation-view.ts"
import { briefRepositoryView } from "../views/repository-view.ts"

export type InstallationAction = "created" | "deleted" | "suspend" | "unsuspend" | "new_permissions_accepted"

/** Sends `installation`; webhooks give its times as seconds since the epoch, REST as text. */
export function emitInstallation(context: Context, action: InstallationAction, installation: Installation): Promise<Delivery | null> {
  return send(context, "installation", installation, {
    action,
    repositories: [...installation.repositoryIds].flatMap((id) => {
      const repository = context.state.repositories.get(id)
      return repository ? [briefRepositoryView(repository)] : []
    }),
    requester: null,
  })
}

/** Sends `installation_repositories` for one repository. */
export function emitInstallationRepositories(
  context: Context,
  action: "added" | "removed",
  installation: Installation,
  repository: Repository,
): Promise<Delivery | null> {
  const brief = [briefRepositoryView(repository)]
  return send(context, "installation_repositories", installation, {
    action,
    repository_selection: "selected",
    repositories_added: action === "added" ? brief : [],
    repositories_removed: action === "removed" ? brief : [],
    requester: accountView(installation.account, context.links),
  })
}

function send(
  context: Context,
  event: string,
  installation: Installation,
  payload: Readonly<Record<string, unknown>>,
): Promise<Delivery | null> {
  const { links, state } = context
  const view = {
    ...installationView(installation, state.app, links),
    created_at: seconds(installation.createdAt),
    updated_at: seconds(installation.updatedAt),
  }
  const sender = accountView(installation.account, links)
  return context.outbox.send({
    event,
    installationId: installation.id,
    repositoryId: null,
    payload: { ...payload, installation: view, sender },
  })
}

function seconds(time: string): number {
  return Math.floor(Date.parse(time) / 1000)
}
