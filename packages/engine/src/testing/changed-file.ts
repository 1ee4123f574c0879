import type { ChangedFile } from "@galley/checkout/checkout"

/** A modified file with one hunk, for tests. */
export function changedFile(path: string, change: Partial<ChangedFile> = {}): ChangedFile {
  return {
    path,
    previousPath: null,
    status: "modified",
    patch: "@@ -1 +1 @@\n-a\n+b",
    changedLines: [{ start: 1, end: 1 }],
    additions: 1,
    deletions: 1,
    omitted: null,
    ...change,
  }
}
