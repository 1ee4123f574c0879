import type { Coverage } from "@galley/contract/coverage"
import type { ReviewKind } from "@galley/contract/settings"
import type { Usage } from "@galley/contract/usage"
import type { Reconciliation } from "./reconcile.ts"

/** All that a summary comment tells. Text from engines, repositories and earlier comments is untrusted; SHAs and addresses are ours. */
export type CommentInput = Readonly<{
  kind: ReviewKind
  /** Web address of the pull request, `https://host/owner/repository/pull/7`. */
  pullRequestUrl: string
  reviewedSha: string
  /** Tracked paths at the reviewed head: only these can be linked there. */
  headPaths: ReadonlySet<string>
  model: string
  /** Null when nothing but names and modes changed, so that no engine was started. */
  engine: Readonly<{ name: string; version: string }> | null
  reconciliation: Reconciliation
  coverage: Coverage
  /** The earlier comment's state had been edited and was restored. */
  tampered: boolean
  /** Findings that did not hold (`validateFindings`). */
  dropped: readonly Readonly<{ reason: string; count: number }>[]
  usage: Usage
  runId: string
  /** Web page of the run, or null. */
  runUrl: string | null
}>

/** How much the visible text may say. */
export type TextBudget = Readonly<{
  /** Each active finding in one line: priority, title, place. */
  oneLine: boolean
  evidence: boolean
  /** Resolved findings listed. */
  resolved: number
  /** UTF-8 bytes of each body. */
  bodyBytes: number
  /** Omissions listed. */
  omissions: number
}>
