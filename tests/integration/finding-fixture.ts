import type { Finding } from "@galley/contract/finding"

/** An active finding as pages show it. */
export function finding(changes: Partial<Finding> = {}): Finding {
  return {
    id: "f1",
    state: "active",
    title: "Close the file",
    body: "The handle stays open when the parser throws.",
    path: "src/read.ts",
    startLine: 12,
    endLine: 14,
    priority: "P1",
    confidence: 0.9,
    evidence: ["`open` has no `finally`"],
    rules: [],
    engine: "dynamic",
    firstSeenSha: null,
    lastSeenSha: null,
    ...changes,
  }
}
