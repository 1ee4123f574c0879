import type { LeaseResult } from "@galley/contract/protocol"
import { noUsage } from "@galley/contract/usage"
import type { ClaimedLease } from "@galley/store/queue/claim-jobs"

/** A minimal review of the leased head, for tests and benchmarks. */
export function reviewed(lease: ClaimedLease, changes: Partial<Extract<LeaseResult, { outcome: "reviewed" }>> = {}): LeaseResult {
  return {
    ...factsOf(lease),
    outcome: "reviewed",
    state: { schema_version: 1, findings: [] },
    findings: [],
    comment: "a comment",
    ...changes,
  }
}

/** A result that ends its job without a comment. */
export function skipped(lease: ClaimedLease): LeaseResult {
  return { ...factsOf(lease), outcome: "skipped", code: "no_reviewable_files" }
}

function factsOf(lease: ClaimedLease) {
  return {
    fence: lease.fence,
    reviewedSha: lease.headSha,
    coverage: {
      status: "complete" as const,
      changedFiles: 1,
      reviewedFiles: 1,
      examinedPaths: ["a.ts"],
      omitted: { omissions: [], total: 0 },
      comparison: "none" as const,
    },
    usage: { ...noUsage, modelCalls: 1, inputTokens: 100, outputTokens: 10 },
    trace: { engine: { name: "test", version: "1" }, steps: [], droppedFindings: [] },
  }
}
