import type { ChangedFile } from "@galley/checkout/checkout"
import type { DynamicResult } from "@galley/prompt/result-schema"
import type { EngineReport } from "../engine.ts"
import { openCodeManifest } from "../engine-manifest.ts"

export type DynamicEvidence = Readonly<{
  changedFiles: readonly ChangedFile[]
  /** Changed files whose diff did not fit the prompt. */
  leftOut: readonly Readonly<{ path: string; reason: "over_token_budget" }>[]
  /** Paths whose content reached the model through tools, as the gateway saw it. */
  readPaths: readonly string[]
}>

/** The report of a Dynamic Review. What was examined is what reached the model, not what the model says it looked at. Pure. */
export function dynamicReport(result: DynamicResult, evidence: DynamicEvidence): EngineReport {
  const leftOut = new Set(evidence.leftOut.map((file) => file.path))
  const shown = evidence.changedFiles.filter((file) => file.patch !== null && file.omitted === null && !leftOut.has(file.path))
  return {
    findings: result.findings,
    fingerprints: null,
    resolvedIds: result.resolved.map((entry) => entry.id),
    confirmedIds: result.confirmed,
    examinedPaths: [...new Set([...shown.map((file) => file.path), ...evidence.readPaths])].sort(),
    omissions: evidence.leftOut.map(({ path, reason }) => ({ path, reason, changed: true })),
    complete: leftOut.size === 0,
    engine: { name: "opencode", version: openCodeManifest.version },
  }
}
