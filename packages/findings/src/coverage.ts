import type { Coverage, Omission, OmissionList } from "@galley/contract/coverage"

/** Paths of a coverage's omission list; more are only counted. */
const MAX_OMISSIONS = 500

/** What a checkout says about the change. */
export type CheckoutFacts = Readonly<{
  changedFiles: readonly Readonly<{ path: string; patch: string | null; omitted: Omission["reason"] | null }>[]
  omitted: OmissionList
  comparison: Readonly<{ kind: Coverage["comparison"] }>
}>

/** What an engine says about what it saw. */
export type ExaminationReport = Readonly<{
  examinedPaths: readonly string[]
  omissions: readonly Omission[]
  complete: boolean
}>

/**
 * What a run examined, declared by us: every changed path is either examined or listed with a reason. A change of names or modes alone has
 * nothing to read and counts as examined; any other path nobody accounts for is `engine_filtered`. Omissions of the change come first, so that cutting the
 * list never hides them behind those of the tree. A path left out of the export whose diff text was seen counts as examined.
 */
export function computeCoverage(checkout: CheckoutFacts, report: ExaminationReport): Coverage {
  const examined = new Set(report.examinedPaths)
  const hasContent = (file: CheckoutFacts["changedFiles"][number]) => file.patch !== null || file.omitted !== null
  const unexamined = checkout.changedFiles.filter((file) => hasContent(file) && !examined.has(file.path))
  const declared = new Map([...report.omissions, ...checkout.omitted.omissions].map((omission) => [omission.path, omission.reason]))
  const ofChange = unexamined.map((file): Omission => {
    return { path: file.path, reason: file.omitted ?? declared.get(file.path) ?? "engine_filtered", changed: true }
  })
  const changedPaths = new Set(checkout.changedFiles.map((file) => file.path))
  const ofTree = checkout.omitted.omissions.filter((omission) => !changedPaths.has(omission.path))
  const listed = new Set(checkout.omitted.omissions.map((omission) => omission.path))
  // A cut list has counted the omissions of the change already; only what the engine left out comes on top.
  const isCut = checkout.omitted.total > checkout.omitted.omissions.length
  const examinedAnyway = checkout.omitted.omissions.filter(
    (omission) => changedPaths.has(omission.path) && examined.has(omission.path),
  ).length
  const added = unexamined.filter((file) => !listed.has(file.path) && !(isCut && file.omitted !== null)).length
  return {
    status: unexamined.length === 0 && report.complete ? "complete" : "partial",
    changedFiles: checkout.changedFiles.length,
    reviewedFiles: checkout.changedFiles.length - unexamined.length,
    examinedPaths: [...examined].sort(),
    omitted: { omissions: [...ofChange, ...ofTree].slice(0, MAX_OMISSIONS), total: checkout.omitted.total - examinedAnyway + added },
    comparison: checkout.comparison.kind,
  }
}
