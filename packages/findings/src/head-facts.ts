/** Lines `start` to `end` (1-based, inclusive) of the file at the head. */
type LineRange = Readonly<{ start: number; end: number }>

/** The previous reviewed head against the head, by their exact trees; `changedPaths` holds every path that differs or is gone. */
export type TreeComparison =
  | Readonly<{ kind: "none" }>
  | Readonly<{ kind: "exact"; previousHeadSha: string; changedPaths: ReadonlySet<string> }>
  | Readonly<{ kind: "unavailable"; previousHeadSha: string }>

/** What trusted git objects say about the head under review: the measure of every claim an engine makes. */
export type HeadFacts = Readonly<{
  headSha: string
  /** Every tracked path of the head tree. */
  headPaths: ReadonlySet<string>
  /** Number of lines of every path whose lines may be named. */
  lineCounts: ReadonlyMap<string, number>
  changedFiles: readonly Readonly<{
    path: string
    status: "added" | "modified" | "removed" | "renamed"
    changedLines: readonly LineRange[]
  }>[]
  comparison: TreeComparison
}>
