import type { Checkout } from "./checkout.ts"

/**
 * False when nothing of the change may be shown: every changed file is omitted, or there is none. Such a run ends `skipped`
 * with `no_reviewable_files`. A change of modes or names alone is reviewable, it only has no hunks. Pure.
 */
export function isReviewable(checkout: Pick<Checkout, "changedFiles">): boolean {
  return checkout.changedFiles.some((file) => file.omitted === null)
}
