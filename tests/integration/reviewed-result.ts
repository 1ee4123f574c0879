import type { LeaseResult } from "@galley/contract/protocol"
import { noUsage } from "@galley/contract/usage"
import type { ClaimedLease } from "@galley/store/queue/claim-jobs"

/** A minimal review of the leased head, for tests and benchmarks. */
export function reviewed(lease: ClaimedLease, changes: Partial<Extract<LeaseResult, { outcome: "reviewed" }>> = {}): LeaseResult {
  return {
    outcome: "reviewed",
    fence: lease.fence,
    reviewedSha: lease.headSha,
    state: { schema_version: 1, findings: [] },
    findings: [],
    coverage: {
      status: "complete",
      changedFiles: 1,
      reviewedFiles: 1,
      examinedPaths: ["a.ts"],
      omitted: { omissions: [], total: 0 },
      comparison: "none",
    },
    usage: { ...noUsage, modelCalls: 1, inputTokens: 100, outputTokens: 10 },
    trace: { engine: { name: "test", version: "1" }, steps: [], droppedFindings: [] },
    comment: "a comment",
    ...changes,
  }
}
