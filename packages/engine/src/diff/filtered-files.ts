import type { ChangedFile } from "@galley/checkout/checkout"
import type { Omission } from "@galley/contract/coverage"

/** File names PR-Agent 0.48.0 drops whatever its settings say (`AUTO_GENERATED_FILES_EXACT` of its source). */
const DROPPED_NAMES: ReadonlySet<string> = new Set([
  ".terraform.lock.hcl",
  "Cargo.lock",
  "Gemfile.lock",
  "Pipfile.lock",
  "bun.lockb",
  "composer.lock",
  "go.sum",
  "mix.lock",
  "package-lock.json",
  "pnpm-lock.yaml",
  "poetry.lock",
  "pubspec.lock",
  "uv.lock",
  "yarn.lock",
])
const DROPPED_SUFFIXES = [".min.js", ".min.css", ".js.map", ".ts.map", ".css.map"]

/**
 * The changed files PR-Agent does not show its model and does not mention: those with a fixed name, and those without a hunk.
 * Files the checkout already left out are not named again. Pure.
 */
export function filteredFiles(changedFiles: readonly ChangedFile[]): Omission[] {
  return changedFiles.flatMap((file) => {
    const reason = file.omitted === null ? filterReason(file) : null
    return reason === null ? [] : [{ path: file.path, reason, changed: true }]
  })
}

function filterReason(file: ChangedFile): Omission["reason"] | null {
  // a backslash counts as a separator there, as it would on Windows
  const name = file.path.split(/[/\\]/).at(-1) ?? ""
  if (DROPPED_NAMES.has(name) || DROPPED_SUFFIXES.some((suffix) => file.path.endsWith(suffix))) return "engine_filtered"
  return file.patch === null ? "no_hunks" : null
}
