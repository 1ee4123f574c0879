import type { Omission, OmissionList } from "@galley/contract/coverage"
import type { ChangedFile } from "./checkout.ts"

/**
 * The declared omissions, those of the change first, so that a cut list keeps what matters most. Pure.
 *
 * @param leftOut reason for every path of the head that is not exported
 * @param maxOmissions entries kept; `total` counts all
 */
export function listOmissions(
  changedFiles: readonly ChangedFile[],
  leftOut: ReadonlyMap<string, Omission["reason"]>,
  maxOmissions: number,
): OmissionList {
  const reasonOf = (file: ChangedFile): Omission["reason"] | null => file.omitted ?? leftOut.get(file.path) ?? null
  const changed = changedFiles.flatMap((file): Omission[] => {
    const reason = reasonOf(file)
    return reason === null ? [] : [{ path: file.path, reason, changed: true }]
  })
  const listed = new Set(changed.map((omission) => omission.path))
  const others = [...leftOut].flatMap(([path, reason]): Omission[] => (listed.has(path) ? [] : [{ path, reason, changed: false }]))
  return { omissions: [...changed, ...others].slice(0, maxOmissions), total: changed.length + others.length }
}
