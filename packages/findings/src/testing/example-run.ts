import { readFileSync } from "node:fs"
import type { Coverage } from "@galley/contract/coverage"
import type { EngineFinding, FindingRecord, FindingState } from "@galley/contract/finding"
import { noUsage } from "@galley/contract/usage"
import type { CommentInput } from "../comment-input.ts"
import { dynamicBody, fingerprint } from "../finding-identity.ts"
import type { HeadFacts } from "../head-facts.ts"
import { type ReconcileInput, type Reconciliation, reconcile } from "../reconcile.ts"

/** Values for tests: an ordinary run, with whatever a test wants different. */
export const HEAD = "b".repeat(40)
export const EARLIER_HEAD = "a".repeat(40)
export const NOW = "2026-11-30T12:00:00.000Z"

/** Exact comment bodies; those of the engine were written by a real PR-Agent 0.48.0. */
export function fixture(name: string): string {
  return readFileSync(new URL(`../fixtures/${name}`, import.meta.url), "utf8")
}

export function exampleFinding(over: Partial<EngineFinding> = {}): EngineFinding {
  return {
    title: "Lock is never released",
    body: "The early return keeps the lock.",
    path: "src/a.ts",
    startLine: 10,
    endLine: 11,
    priority: "P1",
    confidence: 0.8,
    evidence: ["const held = lock()"],
    rules: [],
    ...over,
  }
}

export function idOf(finding: EngineFinding): string {
  return fingerprint(finding.path, dynamicBody(finding.title, finding.body))
}

/** A head where `src/a.ts` and `src/b.ts` (100 lines, 5 to 20 changed) are the change. */
export function exampleHead(over: Partial<HeadFacts> = {}): HeadFacts {
  const changed = (path: string) => ({ path, status: "modified" as const, changedLines: [{ start: 5, end: 20 }] })
  return {
    headSha: HEAD,
    headPaths: new Set(["src/a.ts", "src/b.ts", "src/unchanged.ts"]),
    lineCounts: new Map(["src/a.ts", "src/b.ts", "src/unchanged.ts"].map((path) => [path, 100])),
    changedFiles: [changed("src/a.ts"), changed("src/b.ts")],
    comparison: { kind: "none" },
    ...over,
  }
}

export function exampleCoverage(over: Partial<Coverage> = {}): Coverage {
  return {
    status: "complete",
    changedFiles: 2,
    reviewedFiles: 2,
    examinedPaths: ["src/a.ts", "src/b.ts"],
    omitted: { omissions: [], total: 0 },
    comparison: "none",
    ...over,
  }
}

export type ExampleRun = Partial<Omit<ReconcileInput, "kept">> & { findings?: readonly EngineFinding[] }

export function runReconcile({ findings = [], ...over }: ExampleRun = {}): Reconciliation {
  return reconcile({
    prior: null,
    kind: "dynamic",
    kept: findings,
    fingerprints: findings.map(idOf),
    droppedIds: [],
    resolvedIds: [],
    confirmedIds: [],
    engineComplete: true,
    head: exampleHead(),
    coverage: exampleCoverage(),
    runId: "run-1",
    now: NOW,
    ...over,
  })
}

/** The state after one review of the earlier head. */
export function earlierState(kind: "diff" | "dynamic", findings: readonly EngineFinding[]): FindingState {
  return runReconcile({ kind, findings, head: exampleHead({ headSha: EARLIER_HEAD }), now: "2026-11-29T12:00:00.000Z" }).state
}

/** A head that follows the earlier one by an exact comparison in which `changed` differ. */
export function nextHead(changed: readonly string[], over: Partial<HeadFacts> = {}): HeadFacts {
  return exampleHead({ comparison: { kind: "exact", previousHeadSha: EARLIER_HEAD, changedPaths: new Set(changed) }, ...over })
}

/** A record as stock PR-Agent writes it. */
export function stockRecord(over: Partial<FindingRecord> = {}): FindingRecord {
  return {
    finding_id: "5d19930a0b40",
    state: "ACTIVE",
    body: "**Endless loop**\n\nretry never gives up.",
    path: "src/a.ts",
    line_start: 2,
    line_end: 4,
    first_seen: "2026-11-01T00:00:00.000000Z",
    last_seen: "2026-11-01T00:00:00.000000Z",
    last_seen_head_sha: EARLIER_HEAD,
    ...over,
  }
}

export function exampleComment(reconciliation: Reconciliation, over: Partial<CommentInput> = {}): CommentInput {
  return {
    kind: "dynamic",
    pullRequestUrl: "https://github.com/octo/shop/pull/7",
    reviewedSha: HEAD,
    headPaths: exampleHead().headPaths,
    model: "deepseek-v4.1-flash",
    engine: { name: "OpenCode", version: "1.19.0" },
    reconciliation,
    coverage: exampleCoverage(),
    tampered: false,
    dropped: [],
    usage: { ...noUsage, modelCalls: 3, inputTokens: 1234, outputTokens: 56 },
    runId: "0192f0c1",
    runUrl: null,
    ...over,
  }
}
