import type { ChangedFile } from "../git/read-change.ts"
import type { Commit } from "../git/read-commits.ts"
import { type Links, nodeId } from "../links.ts"
import type { Repository } from "../state.ts"
import { repositoryPage, repositoryUrl } from "./repository-view.ts"

/** A commit. No e-mail address belongs to an account here, so author and committer are never linked. */
export function commitView(commit: Commit, repository: Repository, links: Links) {
  const url = repositoryUrl(repository, links)
  const page = repositoryPage(repository, links)
  return {
    sha: commit.sha,
    node_id: nodeId("Commit", commit.sha),
    commit: {
      author: commit.author,
      committer: commit.committer,
      message: commit.message,
      tree: { sha: commit.treeSha, url: `${url}/git/trees/${commit.treeSha}` },
      url: `${url}/git/commits/${commit.sha}`,
      comment_count: 0,
      verification: { verified: false, reason: "unsigned", signature: null, payload: null, verified_at: null },
    },
    url: `${url}/commits/${commit.sha}`,
    html_url: `${page}/commit/${commit.sha}`,
    comments_url: `${url}/commits/${commit.sha}/comments`,
    author: null,
    committer: null,
    parents: commit.parents.map((sha) => ({ sha, url: `${url}/commits/${sha}`, html_url: `${page}/commit/${sha}` })),
  }
}

/** A changed file; `patch` is left out when git shows no hunk, as GitHub does. */
export function changedFileView(file: ChangedFile, headSha: string, repository: Repository, links: Links) {
  const page = repositoryPage(repository, links)
  const path = encodePath(file.path)
  return {
    sha: file.sha,
    filename: file.path,
    status: file.status,
    additions: file.additions,
    deletions: file.deletions,
    changes: file.additions + file.deletions,
    blob_url: `${page}/blob/${headSha}/${path}`,
    raw_url: `${page}/raw/${headSha}/${path}`,
    contents_url: `${repositoryUrl(repository, links)}/contents/${path}?ref=${headSha}`,
    ...(file.patch !== null && { patch: file.patch }),
    ...(file.previousPath !== null && { previous_filename: file.previousPath }),
  }
}

/** A path within an address: every segment percent-encoded. */
export function encodePath(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/")
}
