import type { Links } from "../links.ts"
import type { App, Installation } from "../state.ts"
import { accountView } from "./account-view.ts"

/** An installation of the App on one account. */
export function installationView(installation: Installation, app: App, links: Links) {
  const { id, account } = installation
  return {
    id,
    client_id: app.clientId,
    account: accountView(account, links),
    repository_selection: "selected",
    access_tokens_url: `${links.api}/app/installations/${id}/access_tokens`,
    repositories_url: `${links.api}/installation/repositories`,
    html_url: `${links.web}/settings/installations/${id}`,
    app_id: app.id,
    app_slug: app.slug,
    target_id: account.id,
    target_type: account.type,
    permissions: installation.permissions,
    events: app.events,
    created_at: installation.createdAt,
    updated_at: installation.updatedAt,
    single_file_name: null,
    has_multiple_single_files: false,
    single_file_paths: [],
    suspended_by: installation.suspendedAt ? accountView(account, links) : null,
    suspended_at: installation.suspendedAt,
  }
}
