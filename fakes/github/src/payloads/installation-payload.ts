import type { Context } from "../context.ts"
import type { Delivery, Installation, Repository } from "../state.ts"
import { accountView } from "../views/account-view.ts"
import { installationView } from "../views/installation-view.ts"
import { briefRepositoryView } from "../views/repository-view.ts"
import { enterprisePart } from "./event-payload.ts"

export type InstallationAction = "created" | "deleted" | "suspend" | "unsuspend" | "new_permissions_accepted"

/** Actions that name the repositories the App gains or loses, with times as seconds since the epoch. */
const named: ReadonlySet<InstallationAction> = new Set(["created", "deleted", "new_permissions_accepted"])

/** Sends `installation`. Suspending and waking name no repositories and give times as text, as GitHub does. */
export function emitInstallation(context: Context, action: InstallationAction, installation: Installation): Promise<Delivery | null> {
  const view = installationView(installation, context.state.app, context.links)
  if (!named.has(action)) return send(context, "installation", installation, { action, installation: view })
  const repositories = [...installation.repositoryIds].flatMap((id) => context.state.repositories.get(id) ?? [])
  return send(context, "installation", installation, {
    action,
    installation: { ...view, ...secondsOf(installation) },
    repositories: repositories.map(briefRepositoryView),
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
    installation: { ...installationView(installation, context.state.app, context.links), ...secondsOf(installation) },
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
  const sender = accountView(installation.account, context.links)
  return context.outbox.send({
    event,
    installationId: installation.id,
    repositoryId: null,
    payload: { ...payload, ...enterprisePart(context), sender },
  })
}

function secondsOf({ createdAt, updatedAt }: Installation) {
  const seconds = (time: string) => Math.floor(Date.parse(time) / 1000)
  return { created_at: seconds(createdAt), updated_at: seconds(updatedAt) }
}
