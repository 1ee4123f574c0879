import type { ChangedFile } from "@galley/checkout/checkout"
import type { ReviewKind } from "@galley/contract/settings"
import { filteredFiles } from "./diff/filtered-files.ts"
import type { EngineReport } from "./engine.ts"

/**
 * The changed files of which the kind's engine would show its model something. Pure. None for a change of names or modes alone, and for Diff
 * Review none when PR-Agent drops them all, as in an update of a lock file: then there is nothing to start an engine for.
 */
export function readableFiles(kind: ReviewKind, changedFiles: readonly ChangedFile[]): ChangedFile[] {
  const dropped = new Set(kind === "diff" ? filteredFiles(changedFiles).map((omission) => omission.path) : [])
  return changedFiles.filter((file) => file.omitted === null && file.patch !== null && !dropped.has(file.path))
}

/** What a review reports for which no engine was started, because no changed file is readable. Pure. */
export function reportWithoutEngine(kind: ReviewKind, changedFiles: readonly ChangedFile[]): EngineReport {
  return {
    findings: [],
    fingerprints: null,
    resolvedIds: [],
    confirmedIds: [],
    examinedPaths: [],
    omissions: kind === "diff" ? filteredFiles(changedFiles) : [],
    complete: true,
    engine: null,
  }
}
