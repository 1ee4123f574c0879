import { type Links, nodeId } from "../links.ts"
import { fullNameOf, type PermissionLevel, type Repository } from "../state.ts"
import { accountView } from "./account-view.ts"

/** Address fields and what follows the repository's own address in each. */
const addresses = {
  forks_url: "/forks",
  keys_url: "/keys{/key_id}",
  collaborators_url: "/collaborators{/collaborator}",
  teams_url: "/teams",
  hooks_url: "/hooks",
  issue_events_url: "/issues/events{/number}",
  events_url: "/events",
  assignees_url: "/assignees{/user}",
  branches_url: "/branches{/branch}",
  tags_url: "/tags",
  blobs_url: "/git/blobs{/sha}",
  git_tags_url: "/git/tags{/sha}",
  git_refs_url: "/git/refs{/sha}",
  trees_url: "/git/trees{/sha}",
  statuses_url: "/statuses/{sha}",
  languages_url: "/languages",
  stargazers_url: "/stargazers",
  contributors_url: "/contributors",
  subscribers_url: "/subscribers",
  subscription_url: "/subscription",
  commits_url: "/commits{/sha}",
  git_commits_url: "/git/commits{/sha}",
  comments_url: "/comments{/number}",
  issue_comment_url: "/issues/comments{/number}",
  contents_url: "/contents/{+path}",
  compare_url: "/compare/{base}...{head}",
  merges_url: "/merges",
  archive_url: "/{archive_format}{/ref}",
  downloads_url: "/downloads",
  issues_url: "/issues{/number}",
  pulls_url: "/pulls{/number}",
  milestones_url: "/milestones{/number}",
  notifications_url: "/notifications{?since,all,participating}",
  labels_url: "/labels{/name}",
  releases_url: "/releases{/id}",
  deployments_url: "/deployments",
} as const

/** REST address of a repository. */
export function repositoryUrl(repository: Repository, links: Links): string {
  return `${links.api}/repos/${fullNameOf(repository)}`
}

/** Page address of a repository. */
export function repositoryPage(repository: Repository, links: Links): string {
  return `${links.web}/${fullNameOf(repository)}`
}

/** A repository as it stands in every answer and webhook. */
export function repositoryView(repository: Repository, links: Links) {
  const url = repositoryUrl(repository, links)
  const page = repositoryPage(repository, links)
  const open = [...repository.pullRequests.values()].filter((pullRequest) => pullRequest.state === "open").length
  return {
    ...briefRepositoryView(repository),
    owner: accountView(repository.owner, links),
    html_url: page,
    description: repository.description,
    fork: repository.fork,
    url,
    ...Object.fromEntries(Object.entries(addresses).map(([field, tail]) => [field, url + tail])),
    created_at: repository.createdAt,
    updated_at: repository.pushedAt,
    pushed_at: repository.pushedAt,
    git_url: `${page.replace(/^https?/, "git")}.git`,
    ssh_url: `git@${new URL(links.web).hostname}:${fullNameOf(repository)}.git`,
    clone_url: `${page}.git`,
    svn_url: page,
    homepage: null,
    size: 0,
    stargazers_count: 0,
    watchers_count: 0,
    language: null,
    has_issues: true,
    has_projects: true,
    has_downloads: true,
    has_wiki: true,
    has_pages: false,
    has_discussions: false,
    forks_count: 0,
    mirror_url: null,
    archived: false,
    disabled: false,
    open_issues_count: open,
    license: null,
    allow_forking: true,
    is_template: false,
    web_commit_signoff_required: false,
    topics: [],
    visibility: repository.private ? "private" : "public",
    forks: 0,
    open_issues: open,
    watchers: 0,
    default_branch: repository.defaultBranch,
    custom_properties: {},
  }
}

/** The few facts an installation webhook gives of each repository. */
export function briefRepositoryView(repository: Repository) {
  return {
    id: repository.id,
    node_id: nodeId("Repository", repository.id),
    name: repository.name,
    full_name: fullNameOf(repository),
    private: repository.private,
  }
}

/** What `GET /repos/{owner}/{repo}` adds. `level` is what the caller may do. */
export function fullRepositoryView(repository: Repository, links: Links, level: PermissionLevel) {
  const write = level !== "read"
  return {
    ...repositoryView(repository, links),
    permissions: { admin: level === "admin", maintain: level === "admin", push: write, triage: write, pull: true },
    network_count: 0,
    subscribers_count: 0,
  }
}
