import type { ChangedFile, Checkout } from "@galley/checkout/checkout"
import type { ShimJob } from "../gateway.ts"

export const HEAD = "1".repeat(40)
export const BASE = "2".repeat(40)
export const MERGE_BASE = "3".repeat(40)

export const stateComment = "## PR Reviewer Guide\n\n<!-- pr-agent:review:full -->\n\n<!-- pr-agent-review-state:v1\n{}\n-->\n"

const changed = (path: string, more: Partial<ChangedFile> = {}): ChangedFile => ({
  path,
  previousPath: null,
  status: "modified",
  patch: "@@ -1 +1 @@\n-a\n+b\n",
  changedLines: [{ start: 1, end: 1 }],
  additions: 1,
  deletions: 1,
  omitted: null,
  ...more,
})

/** A pull request of the given files; contents are `<path> at <side>` unless `contents` names them. */
export function shimJob(files: readonly ChangedFile[], contents: Readonly<Record<string, string>> = {}): ShimJob {
  const checkout: Checkout = {
    treePath: "/jobs/tree",
    headSha: HEAD,
    baseSha: BASE,
    mergeBaseSha: MERGE_BASE,
    changedFiles: files,
    diff: "",
    commits: [{ sha: HEAD, message: "Change\vit", committedAt: "2026-11-30T12:00:00Z" }],
    omitted: { omissions: [], total: 0 },
    comparison: { kind: "none" },
    lineCounts: new Map(),
    headPaths: new Set(),
    readText: async (path, at) => contents[path] ?? `${path} at ${at}`,
  }
  const pullRequest = {
    owner: "o",
    repository: "r",
    number: 7,
    title: "Title\u2028forged",
    description: "Text\x85forged\rline\r\nkept",
    author: "someone",
    baseRef: "main",
    headRef: "change",
    webUrl: "https://github.com/o/r/pull/7",
    gitUrl: "https://github.com/o/r.git",
  }
  return { pullRequest, checkout, botLogin: "galley[bot]", stateComment }
}

export { changed }
