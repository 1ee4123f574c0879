import { type Links, nodeId } from "../links.ts"
import type { Account } from "../state.ts"

/** An account as it stands in every answer ("simple user"). */
export function accountView(account: Account, links: Links) {
  const login = encodeURIComponent(account.login)
  const url = `${links.api}/users/${login}`
  const page = account.type === "Bot" ? `${links.web}/apps/${login.replace(/%5Bbot%5D$/i, "")}` : `${links.web}/${login}`
  return {
    login: account.login,
    id: account.id,
    node_id: nodeId(account.type, account.id),
    avatar_url: `${links.web}/avatars/u/${account.id}`,
    gravatar_id: "",
    url,
    html_url: page,
    followers_url: `${url}/followers`,
    following_url: `${url}/following{/other_user}`,
    gists_url: `${url}/gists{/gist_id}`,
    starred_url: `${url}/starred{/owner}{/repo}`,
    subscriptions_url: `${url}/subscriptions`,
    organizations_url: `${url}/orgs`,
    repos_url: `${url}/repos`,
    events_url: `${url}/events{/privacy}`,
    received_events_url: `${url}/received_events`,
    type: account.type,
    site_admin: false,
  }
}

/** An account's own page: what `GET /users/{username}` adds. */
export function publicAccountView(account: Account, links: Links) {
  const epoch = "2020-01-01T00:00:00Z"
  return {
    ...accountView(account, links),
    name: account.login,
    company: null,
    blog: "",
    location: null,
    email: null,
    hireable: null,
    bio: null,
    twitter_username: null,
    public_repos: 0,
    public_gists: 0,
    followers: 0,
    following: 0,
    created_at: epoch,
    updated_at: epoch,
  }
}
