import type { Omission, OmissionList } from "@galley/contract/coverage"
import type { JobLimits } from "@galley/contract/limits"
import type { Sha } from "@galley/contract/sha"

/** What is fetched and exported for one job. */
export type CheckoutRequest = Readonly<{
  /** http(s) address of the BASE repository, without credentials. */
  gitUrl: string
  /** Read-only installation token; used only in the environment of git children. Null for a repository that needs none. */
  token: string | null
  pullNumber: number
  headSha: Sha
  baseSha: Sha
  /** Head of the last successful review, or null. */
  previousHeadSha: Sha | null
  /** Existing empty directory of the job, owned by the runner; `git/` (0700) and `tree/` are made in it. */
  jobDirectory: string
  limits: JobLimits
}>

/** Lines `start` to `end` (1-based, inclusive) of the file at the head. */
export type LineRange = Readonly<{ start: number; end: number }>

/** One changed path between merge base and head, renames detected. */
export type ChangedFile = Readonly<{
  path: string
  previousPath: string | null
  status: "added" | "modified" | "removed" | "renamed"
  /** Hunks from the first `@@`, without file header; null when git shows none (binary, mode change, pure rename, omitted). */
  patch: string | null
  /** Lines of the head that the change added or touched; for a pure deletion inside a file the lines around it. */
  changedLines: readonly LineRange[]
  additions: number
  deletions: number
  /** Why its content may not be shown, or null. */
  omitted: Omission["reason"] | null
}>

export type Commit = Readonly<{ sha: Sha; message: string; committedAt: string }>

/**
 * The previous head against the head, by their exact trees.
 * `exact`: `changedPaths` holds every path that differs (or is gone). `none`: there was no earlier review.
 * `unavailable`: the earlier tree could not be had, so this is a declared full review.
 */
export type Comparison =
  | Readonly<{ kind: "none" }>
  | Readonly<{ kind: "exact"; previousHeadSha: Sha; changedPaths: ReadonlySet<string> }>
  | Readonly<{ kind: "unavailable"; previousHeadSha: Sha }>

/** A prepared job: the sanitized export and everything computed from trusted git objects. */
export type Checkout = Readonly<{
  /** Root of the export: regular UTF-8 files 0444 below directories 0555, nothing else. */
  treePath: string
  headSha: Sha
  baseSha: Sha
  mergeBaseSha: Sha
  changedFiles: readonly ChangedFile[]
  /** Unified diff of the changed files that are not omitted, `diff --git` headers included; at most `maxDiffBytes`. Not redacted yet. */
  diff: string
  commits: readonly Commit[]
  omitted: OmissionList
  comparison: Comparison
  /** Number of lines of every exported path at the head. */
  lineCounts: ReadonlyMap<string, number>
  /** Every tracked path of the head tree, exported or not. */
  headPaths: ReadonlySet<string>
  /**
   * Content of a text file at the head or the merge base, after the same omissions; null when there is none to show.
   * Reads the job's git objects; throws `changed_file_unavailable` when an object that must exist cannot be read.
   */
  readText(path: string, at: "head" | "mergeBase", signal: AbortSignal): Promise<string | null>
}>
