import { findGit, runGit } from "./run-git.ts"

/** One entry of a tree; `size` in bytes, null for anything but a blob. */
export type TreeEntry = Readonly<{ mode: string; type: string; sha: string; size: number | null; path: string }>

/**
 * Entries of a tree, paths from the root of the tree.
 *
 * @param path a directory with a final slash, or a file, without glob meaning; empty for the root
 */
export async function readTree(directory: string, treeish: string, path: string, recursive: boolean): Promise<readonly TreeEntry[]> {
  const args = [
    "--literal-pathspecs",
    "ls-tree",
    "-z",
    "--long",
    ...(recursive ? ["-r", "-t"] : []),
    treeish,
    ...(path ? ["--", path] : []),
  ]
  return (await runGit(directory, args))
    .toString()
    .split("\0")
    .filter(Boolean)
    .map((record) => {
      const tab = record.indexOf("\t")
      const [mode = "", type = "", sha = "", size = ""] = record.slice(0, tab).split(/ +/)
      return { mode, type, sha, size: type === "blob" ? Number(size) : null, path: record.slice(tab + 1) }
    })
}

/** Bytes of a blob. */
export function readBlob(directory: string, sha: string): Promise<Buffer> {
  return runGit(directory, ["cat-file", "blob", sha])
}

/** The tree a commit or tree names; null when it names neither. */
export async function resolveTree(directory: string, treeish: string): Promise<string | null> {
  if (!/^[0-9a-f]{4,64}$/.test(treeish)) return null
  return await findGit(directory, ["rev-parse", "--verify", "--quiet", `${treeish}^{tree}`])
}
