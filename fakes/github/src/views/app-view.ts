import { type Links, nodeId } from "../links.ts"
import type { App } from "../state.ts"
import { accountView } from "./account-view.ts"

/** The App itself ("integration"). */
export function appView(app: App, links: Links) {
  return {
    id: app.id,
    slug: app.slug,
    node_id: nodeId("Integration", app.id),
    client_id: app.clientId,
    owner: accountView(app.owner, links),
    name: app.name,
    description: "",
    external_url: links.web,
    html_url: `${links.web}/${links.flavour === "ghes" ? "github-apps" : "apps"}/${app.slug}`,
    created_at: app.createdAt,
    updated_at: app.createdAt,
    permissions: app.permissions,
    events: app.events,
  }
}
