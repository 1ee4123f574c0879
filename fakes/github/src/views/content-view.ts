import { mirrorOf } from "../actions/repositories.ts"
import { readBlob, readTree, type TreeEntry } from "../git/read-tree.ts"
import type { Links } from "../links.ts"
import type { Repository } from "../state.ts"
import { encodePath } from "./commit-view.ts"
import { repositoryPage, repositoryUrl } from "./repository-view.ts"

/** Larger files come without content. */
const MAX_INLINE_BYTES = 1024 * 1024
const SYMLINK = "120000"

/**
 * A file, symlink or submodule at a commit, or the entries of a directory; null when there is nothing at `path`.
 *
 * @param ref as the request gave it; it stays in the addresses
 */
export async function contentView(repository: Repository, commit: string, ref: string, path: string, links: Links) {
  const mirror = mirrorOf(repository)
  const list = async (at: string) => (await readTree(mirror, commit, at, false)).map((entry) => entryView(entry, repository, ref, links))
  if (path === "") return await list("")
  const entry = (await readTree(mirror, commit, path, false)).find((candidate) => candidate.path === path)
  if (!entry) return null
  if (entry.type === "tree") return await list(`${path}/`)
  const view = entryView(entry, repository, ref, links)
  if (entry.type === "commit") return { ...view, submodule_git_url: null }
  const bytes = await readBlob(mirror, entry.sha)
  if (entry.mode === SYMLINK) return { ...view, target: bytes.toString() }
  if (bytes.length > MAX_INLINE_BYTES) return { ...view, encoding: "none", content: "" }
  return { ...view, encoding: "base64", content: bytes.toString("base64").replace(/.{1,60}/g, "$&\n") }
}

function entryView(entry: TreeEntry, repository: Repository, ref: string, links: Links) {
  const path = encodePath(entry.path)
  const self = `${repositoryUrl(repository, links)}/contents/${path}?ref=${encodeURIComponent(ref)}`
  const git = `${repositoryUrl(repository, links)}/git/${entry.type === "tree" ? "trees" : "blobs"}/${entry.sha}`
  const html = `${repositoryPage(repository, links)}/blob/${encodeURIComponent(ref)}/${path}`
  return {
    type: typeOf(entry),
    size: entry.size ?? 0,
    name: entry.path.slice(entry.path.lastIndexOf("/") + 1),
    path: entry.path,
    sha: entry.sha,
    url: self,
    git_url: git,
    html_url: html,
    download_url: entry.type === "blob" ? `${repositoryPage(repository, links)}/raw/${encodeURIComponent(ref)}/${path}` : null,
    _links: { self, git, html },
  }
}

function typeOf({ type, mode }: TreeEntry): string {
  if (type === "tree") return "dir"
  if (type === "commit") return "submodule"
  return mode === SYMLINK ? "symlink" : "file"
}
