import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { GalleyError } from "@galley/contract/errors"
import type { ChangedFile, Checkout, CheckoutRequest } from "./checkout.ts"
import { compareWithPrevious } from "./compare-with-previous.ts"
import { describeChanges } from "./describe-changes.ts"
import { directoryBytes } from "./directory-bytes.ts"
import { type Export, exportHead } from "./export-head.ts"
import { judgePath } from "./export-policy.ts"
import { createRepository, fetchCommits, type Origin, quotaExceeded } from "./fetch-commits.ts"
import { findMergeBase } from "./find-merge-base.ts"
import { createGit, type Git } from "./git.ts"
import { listCommits } from "./list-commits.ts"
import { listOmissions } from "./list-omissions.ts"
import { type ChangeSide, type RawChange, readRawDiff } from "./read-raw-diff.ts"
import { createTextReader } from "./read-text.ts"
import { readTree } from "./read-tree.ts"
import { removeCheckout } from "./remove-checkout.ts"

/** Renames of identical content only: that never needs a blob, and some blobs were left out on purpose. */
const EXACT_RENAMES = ["-M100%"]

/**
 * Fetches one pull request by exact commit ids, writes the sanitized export and computes the change.
 *
 * Two bare repositories below `jobDirectory/git` do it: one of commits alone, to find the merge base, and one of the trees
 * and the small blobs of head and merge base. Commits are asked for by id, so a head that was pushed away while the job
 * waited is still reviewed as queued where the server keeps it; the queue decides whether that review still counts.
 *
 * On any error, and when `signal` ends, nothing is left running and `git/` and `tree/` are removed.
 *
 * Throws `request_invalid`, `checkout_fetch_failed`, `checkout_ref_unavailable`, `checkout_quota_exceeded`,
 * `checkout_objects_refused`, `github_unauthorized`, `head_sha_mismatch`, `merge_base_missing`, `checkout_entries_exceeded`,
 * `checkout_content_exceeded`, `checkout_path_unsafe`, `input_too_large` and `changed_file_unavailable`. A change without
 * anything to show is a normal answer.
 */
export async function prepareCheckout(request: CheckoutRequest, signal: AbortSignal): Promise<Checkout> {
  const gitRoot = join(request.jobDirectory, "git")
  const treePath = join(request.jobDirectory, "tree")
  const origin = { gitUrl: plainAddress(request.gitUrl), token: request.token, gitRoot, limits: request.limits }
  try {
    await mkdir(gitRoot, { mode: 0o700 })
    return await prepare(request, origin, treePath, createGit(request.limits), signal)
  } catch (error) {
    await Promise.all([removeCheckout(gitRoot), removeCheckout(treePath)])
    throw error
  }
}

async function prepare(request: CheckoutRequest, origin: Origin, treePath: string, git: Git, signal: AbortSignal): Promise<Checkout> {
  const { headSha, baseSha, limits } = request
  const history = await createRepository(join(origin.gitRoot, "history"), headSha)
  const mergeBaseSha = await findMergeBase(git, history, origin, request, signal)
  const commits = await listCommits(git, history.directory, request, signal)

  const objects = await createRepository(join(origin.gitRoot, "objects"), headSha)
  const depth = { depth: 1, filter: `blob:limit=${limits.maxFileBytes + 1}` }
  await fetchCommits(git, objects, origin, [...new Set([headSha, mergeBaseSha])], depth, signal)
  const comparison = await compareWithPrevious(git, objects, origin, request, signal)

  const entries = await readTree(git, objects.directory, headSha, limits, signal)
  const raw = await readRawDiff(git, objects.directory, [mergeBaseSha, headSha], EXACT_RENAMES, limits, signal)
  const exported = await exportHead(git, objects.directory, treePath, entries, raw.flatMap(sidesOf), limits, signal)
  if (directoryBytes(origin.gitRoot) + exported.exposedBytes > limits.maxCheckoutBytes) throw quotaExceeded(limits)

  const judge = (side: ChangeSide): ChangedFile["omitted"] => judgeSide(side, exported, request)
  const changes = await describeChanges(git, objects.directory, raw, judge, limits, signal)
  return {
    treePath,
    headSha,
    baseSha,
    mergeBaseSha,
    ...changes,
    commits,
    omitted: listOmissions(changes.changedFiles, exported.leftOut, limits.maxOmissions),
    comparison,
    lineCounts: exported.lineCounts,
    headPaths: new Set(entries.map((entry) => entry.path)),
    readText: createTextReader(git, objects.directory, exported.oids, raw, judge, limits),
  }
}

/** Why one side of a change may not be shown. Throws `changed_file_unavailable` when its content was never seen. */
function judgeSide(side: ChangeSide, exported: Export, { limits }: CheckoutRequest): ChangedFile["omitted"] {
  const reason = judgePath(side.mode, side.path, limits)
  if (reason !== null && reason !== "discovery_input") return reason
  const verdict = exported.contents.get(side.oid)
  if (verdict !== undefined) return verdict
  throw new GalleyError("changed_file_unavailable", "a changed file could not be read")
}

function sidesOf({ before, after }: RawChange): ChangeSide[] {
  return [before, after].filter((side) => side !== null)
}

/** The address as git gets it. Credentials in it would stand in arguments and on disk. */
function plainAddress(gitUrl: string): string {
  const url = URL.parse(gitUrl)
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "") return url.href
  throw new GalleyError("request_invalid", "the repository's address must be http or https, without credentials")
}
