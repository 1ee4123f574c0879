import { errorCode } from "@galley/contract/errors"
import type { Sha } from "@galley/contract/sha"
import type { Comparison } from "./checkout.ts"
import { fetchCommits, type Origin, type Repository } from "./fetch-commits.ts"
import type { Git } from "./git.ts"
import { readRawDiff } from "./read-raw-diff.ts"

/** Trees are enough to tell which paths differ. */
const TREES_ONLY = { depth: 1, filter: "blob:none" }

/**
 * Compares the head with the last reviewed one by their exact trees; both sides of a moved file count as changed.
 * An earlier head the server no longer gives is an answer (`unavailable`); every other fault is thrown as it is.
 */
export async function compareWithPrevious(
  git: Git,
  objects: Repository,
  origin: Origin,
  heads: Readonly<{ headSha: Sha; previousHeadSha: Sha | null }>,
  signal: AbortSignal,
): Promise<Comparison> {
  const { headSha, previousHeadSha } = heads
  if (previousHeadSha === null) return { kind: "none" }
  if (previousHeadSha === headSha) return { kind: "exact", previousHeadSha, changedPaths: new Set() }
  try {
    await fetchCommits(git, objects, origin, [previousHeadSha], TREES_ONLY, signal)
  } catch (error) {
    if (errorCode(error) === "checkout_ref_unavailable") return { kind: "unavailable", previousHeadSha }
    throw error
  }
  const changes = await readRawDiff(git, objects.directory, [previousHeadSha, headSha], ["--no-renames"], origin.limits, signal)
  const paths = changes.flatMap(({ before, after }) => [before, after].flatMap((side) => (side === null ? [] : [side.path])))
  return { kind: "exact", previousHeadSha, changedPaths: new Set(paths) }
}
