import { existsSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { GalleyError } from "@galley/contract/errors"
import type { Sha } from "@galley/contract/sha"
import { fetchCommits, type Origin, type Repository } from "./fetch-commits.ts"
import { type Git, gitRefused, runGit } from "./git.ts"

/** Commits from each tip, step by step. The last is git's word for the whole history. */
const DEPTHS = [64, 1024, 16_384, 2_147_483_647]
/** Commits without trees and blobs. */
const COMMITS_ONLY = "tree:0"
const MAX_BOUNDARY_BYTES = 16 * 1024 * 1024

/**
 * Fetches commits, deeper step by step, until the merge base of head and base is certain.
 *
 * A base found in a cut history is certain when no commit at the cut is newer than it: what lies behind the cut is older
 * still, so it cannot hold a later common ancestor.
 *
 * Throws `merge_base_missing` when the whole history has none, and what `fetchCommits` throws.
 */
export async function findMergeBase(
  git: Git,
  history: Repository,
  origin: Origin,
  tips: Readonly<{ headSha: Sha; baseSha: Sha }>,
  signal: AbortSignal,
): Promise<Sha> {
  for (const depth of DEPTHS) {
    await fetchCommits(git, history, origin, [tips.headSha, tips.baseSha], { depth, filter: COMMITS_ONLY }, signal)
    const found = await mergeBaseOf(git, history, tips, signal)
    const whole = !existsSync(join(history.directory, "shallow"))
    if (found !== null && (whole || (await isCertain(git, history, found, signal)))) return found
    if (whole) break
  }
  throw new GalleyError("merge_base_missing", "head and base share no history")
}

async function mergeBaseOf(
  git: Git,
  history: Repository,
  tips: Readonly<{ headSha: Sha; baseSha: Sha }>,
  signal: AbortSignal,
): Promise<Sha | null> {
  const result = await runGit(git, { repository: history.directory, args: ["merge-base", tips.headSha, tips.baseSha] }, signal)
  if (result.code === 0) return result.stdout.toString("latin1").trim()
  if (result.code === 1) return null
  throw new GalleyError("checkout_ref_unavailable", "head or base is not a commit", { cause: new Error(result.stderr) })
}

async function isCertain(git: Git, history: Repository, mergeBase: Sha, signal: AbortSignal): Promise<boolean> {
  const boundary = await readFile(join(history.directory, "shallow"), "latin1")
  const command = {
    repository: history.directory,
    args: ["log", "--no-walk=unsorted", "--format=%ct", "--stdin"],
    input: `${mergeBase}\n${boundary}`,
    maxOutputBytes: MAX_BOUNDARY_BYTES,
  }
  const result = await runGit(git, command, signal)
  if (result.code !== 0) throw gitRefused(command, result)
  const [found = 0, ...cut] = result.stdout.toString("latin1").trim().split("\n").map(Number)
  return cut.every((time) => time <= found)
}
