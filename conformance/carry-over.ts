import type { Coverage } from "@galley/contract/coverage"
import type { Lease, LeaseResult } from "@galley/contract/protocol"
import { noUsage } from "@galley/contract/usage"
import { findingView } from "@galley/findings/finding-view"
import type { HeadFacts } from "@galley/findings/head-facts"
import { reconcile } from "@galley/findings/reconcile"
import { renderComment } from "@galley/findings/render-comment"

const ENGINE = { name: "reference", version: "1" }

/**
 * The smallest honest result: nothing was examined, so coverage is partial, nothing new is found and every finding of the prior state stays
 * as it is. Pure.
 *
 * @param now ISO time in UTC
 * @throws `finding_state_too_large`, `comment_too_large`
 */
export function carryOver(lease: Lease, now: string): Extract<LeaseResult, { outcome: "reviewed" }> {
  const { headSha, previousHeadSha, kind, pullRequest } = lease.job
  const comparison: HeadFacts["comparison"] = previousHeadSha === null ? { kind: "none" } : { kind: "unavailable", previousHeadSha }
  const head: HeadFacts = { headSha, headPaths: new Set(), lineCounts: new Map(), changedFiles: [], comparison }
  const coverage: Coverage = {
    status: "partial",
    changedFiles: 0,
    reviewedFiles: 0,
    examinedPaths: [],
    omitted: { omissions: [], total: 0 },
    comparison: comparison.kind,
  }
  const reconciliation = reconcile({
    prior: lease.prior.state,
    kind,
    kept: [],
    fingerprints: [],
    droppedIds: [],
    resolvedIds: [],
    confirmedIds: [],
    engineComplete: false,
    head,
    coverage,
    runId: lease.runUrl,
    now,
  })
  return {
    outcome: "reviewed",
    fence: lease.fence,
    reviewedSha: headSha,
    state: reconciliation.state,
    findings: reconciliation.state.findings.map(findingView),
    coverage,
    usage: noUsage,
    trace: { engine: ENGINE, steps: [], droppedFindings: [] },
    comment: renderComment({
      kind,
      pullRequestUrl: pullRequest.webUrl,
      reviewedSha: headSha,
      headPaths: head.headPaths,
      model: lease.settings.model,
      engine: ENGINE,
      reconciliation,
      coverage,
      tampered: lease.prior.tampered,
      dropped: [],
      usage: noUsage,
      runId: lease.leaseId,
      runUrl: lease.runUrl,
    }),
  }
}
