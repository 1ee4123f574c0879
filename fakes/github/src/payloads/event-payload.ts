import type { Context } from "../context.ts"
import { type Links, nodeId } from "../links.ts"
import { type Account, type Delivery, installationOf, type Repository } from "../state.ts"
import { accountView } from "../views/account-view.ts"
import { repositoryView } from "../views/repository-view.ts"

/**
 * Sends an event about a repository to the App, if the App is installed there and not suspended. `payload` holds the
 * event's own part; repository, organization, installation and sender are added here.
 */
export async function emitRepositoryEvent(
  context: Context,
  event: string,
  repository: Repository,
  sender: Account,
  payload: Readonly<Record<string, unknown>>,
): Promise<Delivery | null> {
  const installation = installationOf(context.state, repository)
  if (!installation || installation.suspendedAt) return null
  const { links } = context
  return await context.outbox.send({
    event,
    installationId: installation.id,
    repositoryId: repository.id,
    payload: {
      ...payload,
      repository: repositoryView(repository, links),
      ...(repository.owner.type === "Organization" && { organization: organizationView(repository.owner, links) }),
      ...enterprisePart(context),
      installation: { id: installation.id, node_id: nodeId("Integration Installation", installation.id) },
      sender: accountView(sender, links),
    },
  })
}

/** The organization that owns a repository, as webhooks name it. */
export function organizationView(account: Account, links: Links) {
  const url = `${links.api}/orgs/${account.login}`
  return {
    login: account.login,
    id: account.id,
    node_id: nodeId("Organization", account.id),
    url,
    repos_url: `${url}/repos`,
    events_url: `${url}/events`,
    hooks_url: `${url}/hooks`,
    issues_url: `${url}/issues`,
    members_url: `${url}/members{/member}`,
    public_members_url: `${url}/public_members{/member}`,
    avatar_url: `${links.web}/avatars/u/${account.id}`,
    description: null,
  }
}

/** Names the enterprise in what a GHES host sends; nothing for github.com. */
export function enterprisePart({ links, state }: Context) {
  if (state.webhook.enterpriseHost === null) return {}
  const name = "Fake Enterprise"
  const enterprise = {
    id: 1,
    slug: "fake-enterprise",
    name,
    node_id: nodeId("Business", 1),
    avatar_url: `${links.web}/avatars/b/1`,
    description: null,
    website_url: null,
    html_url: `${links.web}/businesses/fake-enterprise`,
    created_at: state.app.createdAt,
    updated_at: state.app.createdAt,
  }
  return { enterprise }
}
