import { join } from "node:path"
import { GalleyError } from "@galley/contract/errors"
import type { JobLimits } from "@galley/contract/limits"
import type { ChangedFile } from "./checkout.ts"
import { type Git, gitRefused, runGit } from "./git.ts"
import { localEnvironment } from "./git-environment.ts"
import { parseHunks } from "./parse-hunks.ts"
import { type ChangeSide, type RawChange, readRawDiff } from "./read-raw-diff.ts"

/** Why one side of a change may not be shown, or null. */
export type JudgeSide = (side: ChangeSide) => ChangedFile["omitted"]

/** Similar files are paired below this number of candidates a side; git compares each with each. */
const RENAME_OPTIONS = ["-M", "-l400"]
const PATCH_OPTIONS = ["--patch", "--text", "--no-ext-diff", "--no-textconv", "--no-color", "--full-index", "--unified=3"]
const PREFIXES = ["--src-prefix=a/", "--dst-prefix=b/"]

export type Changes = Readonly<{ changedFiles: readonly ChangedFile[]; diff: string }>

/**
 * Describes a change: what may not be shown as an omission, the rest as patches.
 *
 * The patches come from two trees that hold only the sides that may be shown. So git never looks for renames in, and never
 * prints, what the policy leaves out, and every blob it needs is there.
 *
 * Throws `input_too_large` when the diff is larger than `maxDiffBytes`.
 */
export async function describeChanges(
  git: Git,
  repository: string,
  raw: readonly RawChange[],
  judge: JudgeSide,
  limits: JobLimits,
  signal: AbortSignal,
): Promise<Changes> {
  const changes = raw.flatMap((change) => splitUnequalRename(change, judge))
  const omitted = changes.filter((change) => omissionOf(change, judge) !== null)
  const shown = changes.filter((change) => omissionOf(change, judge) === null)
  const omittedFiles = omitted.map((change) => describe(change, null, omissionOf(change, judge)))
  if (shown.length === 0) return { changedFiles: omittedFiles, diff: "" }

  const before = await writeTree(
    git,
    repository,
    "before",
    shown.map((change) => change.before),
    signal,
  )
  const after = await writeTree(
    git,
    repository,
    "after",
    shown.map((change) => change.after),
    signal,
  )
  const renamed = await readRawDiff(git, repository, [before, after], RENAME_OPTIONS, limits, signal)
  const diff = await readPatches(git, repository, [before, after], limits, signal)
  const patches = splitPatches(diff)
  if (patches.length !== renamed.length) throw new GalleyError("internal_error", "git listed and printed different changes")
  const shownFiles = renamed.map((change, index) => describe(change, patches[index] ?? null, null))
  return { changedFiles: [...shownFiles, ...omittedFiles].sort(byPath), diff }
}

/** A rename of which only one side may be shown is a removal and an addition. */
function splitUnequalRename(change: RawChange, judge: JudgeSide): RawChange[] {
  const { before, after } = change
  if (before === null || after === null || before.path === after.path) return [change]
  if ((judge(before) === null) === (judge(after) === null)) return [change]
  return [
    { before, after: null },
    { before: null, after },
  ]
}

function omissionOf({ before, after }: RawChange, judge: JudgeSide): ChangedFile["omitted"] {
  return (after && judge(after)) ?? (before && judge(before))
}

function describe({ before, after }: RawChange, patch: string | null, omitted: ChangedFile["omitted"]): ChangedFile {
  const path = (after ?? before)?.path ?? ""
  const previousPath = before !== null && before.path !== path ? before.path : null
  return { path, previousPath, status: statusOf(before, after), patch, omitted, ...parseHunks(patch ?? "") }
}

function statusOf(before: ChangeSide | null, after: ChangeSide | null): ChangedFile["status"] {
  if (before === null) return "added"
  if (after === null) return "removed"
  return before.path === after.path ? "modified" : "renamed"
}

/** Makes a tree object of the given sides, through an index of its own. Answers the tree's id. */
async function writeTree(
  git: Git,
  repository: string,
  name: string,
  sides: readonly (ChangeSide | null)[],
  signal: AbortSignal,
): Promise<string> {
  const environment = { ...localEnvironment, GIT_INDEX_FILE: join(repository, `index-${name}`) }
  const input = sides.map((side) => (side === null ? "" : `${side.mode} ${side.oid}\t${side.path}\0`)).join("")
  const fill = { repository, args: ["update-index", "-z", "--index-info"], environment, input }
  const filled = await runGit(git, fill, signal)
  if (filled.code !== 0) throw gitRefused(fill, filled)
  const write = { repository, args: ["write-tree"], environment }
  const written = await runGit(git, write, signal)
  if (written.code !== 0) throw gitRefused(write, written)
  return written.stdout.toString("latin1").trim()
}

async function readPatches(
  git: Git,
  repository: string,
  trees: readonly [string, string],
  limits: JobLimits,
  signal: AbortSignal,
): Promise<string> {
  const args = ["diff-tree", "-r", ...PATCH_OPTIONS, ...PREFIXES, ...RENAME_OPTIONS, ...trees]
  const command = { repository, args, maxOutputBytes: limits.maxDiffBytes }
  const result = await runGit(git, command, signal)
  if (result.cut) {
    throw new GalleyError("input_too_large", "the diff is too large to review", { details: { maxDiffBytes: limits.maxDiffBytes } })
  }
  if (result.code !== 0) throw gitRefused(command, result)
  return result.stdout.toString("utf8")
}

/**
 * The hunks of each file of a diff in its order; null for a file without hunks. Pure.
 *
 * Every line of a hunk starts with a mark of its own, so `diff --git` at the start of a line is always git's. Only a
 * line feed ends a line: text may hold the other characters that a regular expression takes for one.
 */
export function splitPatches(diff: string): (string | null)[] {
  if (diff === "") return []
  return diff.split(/(?<=\n)(?=diff --git )/).map((file) => {
    const start = file.indexOf("\n@@ ")
    return start < 0 ? null : file.slice(start + 1)
  })
}

function byPath(one: ChangedFile, other: ChangedFile): number {
  if (one.path === other.path) return 0
  return one.path < other.path ? -1 : 1
}
