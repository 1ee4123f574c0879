import { appendFile } from "node:fs/promises"
import { join } from "node:path"
import { findGit, readGit, runGit } from "./run-git.ts"

/**
 * Makes a bare mirror that borrows its objects from a repository on disk and never writes to it. Objects that the
 * repository gains later are seen at once; refs are the mirror's own.
 *
 * @param gitDirectory a bare repository, a `.git` directory or a work tree
 * @returns directory of the mirror
 */
export async function createMirror(mirrorsRoot: string, id: number, gitDirectory: string): Promise<string> {
  const directory = join(mirrorsRoot, `${id}.git`)
  await runGit(mirrorsRoot, ["clone", "--quiet", "--bare", "--shared", "--template=", "--", gitDirectory, directory])
  return directory
}

/** Lets the mirror read the objects of one more repository: a fork. */
export async function borrowObjects(mirrorDirectory: string, gitDirectory: string): Promise<void> {
  const objects = await readGit(gitDirectory, ["rev-parse", "--path-format=absolute", "--git-path", "objects"])
  await appendFile(join(mirrorDirectory, "objects", "info", "alternates"), `${objects}\n`)
}

/** Points a ref of the mirror at a commit. Rejects when the commit is not there. */
export async function setRef(mirrorDirectory: string, ref: string, sha: string): Promise<void> {
  await runGit(mirrorDirectory, ["update-ref", ref, sha])
}

/** Branch that HEAD of the mirror names. */
export function readDefaultBranch(mirrorDirectory: string): Promise<string> {
  return readGit(mirrorDirectory, ["symbolic-ref", "--short", "HEAD"])
}

const refName = /^(?![-:])[^\s:~^?*[\\]+$/

/** Full id of the commit a branch, tag, ref or id names; null when there is none. */
export async function resolveCommit(mirrorDirectory: string, ref: string): Promise<string | null> {
  if (!refName.test(ref)) return null
  for (const name of [`refs/heads/${ref}`, `refs/tags/${ref}`, ref]) {
    const sha = await findGit(mirrorDirectory, ["rev-parse", "--verify", "--quiet", `${name}^{commit}`])
    if (sha) return sha
  }
  return null
}
