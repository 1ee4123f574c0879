import type { Checkout } from "@galley/checkout/checkout"
import type { EngineFinding } from "@galley/contract/finding"
import { LeaseResult } from "@galley/contract/protocol"
import { noUsage } from "@galley/contract/usage"
import type { EngineReport } from "@galley/engine/engine"
import { parseComment } from "@galley/findings/comment-state"
import { expect, test } from "vitest"
import { type Conclusion, concludeReview, skippedResult } from "./conclude-review.ts"
import { exampleCredentials, exampleLease, HEAD } from "./testing/example-lease.ts"

const usage = { ...noUsage, modelCalls: 3, inputTokens: 1_234, outputTokens: 56 }
const steps = [{ name: "checkout", ms: 12.5 }]

const finding = (over: Partial<EngineFinding> = {}): EngineFinding => ({
  title: "Discount leaves whole cents",
  body: "A percentage of cents is no whole number.",
  path: "src/basket.ts",
  startLine: 8,
  endLine: 8,
  priority: "P1",
  confidence: 0.9,
  evidence: ["sum - (sum * percent) / 100"],
  rules: [],
  ...over,
})

/** A change of `src/basket.ts`, lines 5 to 10 of 20. */
function checkout(over: Partial<Checkout> = {}): Checkout {
  const changed = { previousPath: null, status: "modified", patch: "@@ -5 +5 @@", additions: 1, deletions: 1, omitted: null } as const
  return {
    treePath: "/jobs/1/tree",
    headSha: HEAD,
    baseSha: "a".repeat(40),
    mergeBaseSha: "a".repeat(40),
    changedFiles: [{ ...changed, path: "src/basket.ts", changedLines: [{ start: 5, end: 10 }] }],
    diff: "",
    commits: [],
    omitted: { omissions: [], total: 0 },
    comparison: { kind: "none" },
    lineCounts: new Map([["src/basket.ts", 20]]),
    headPaths: new Set(["src/basket.ts", "README.md"]),
    readText: () => Promise.reject(new Error("nothing is read here")),
    ...over,
  }
}

function report(kind: "diff" | "dynamic", over: Partial<EngineReport> = {}): EngineReport {
  return {
    findings: [finding()],
    fingerprints: kind === "diff" ? ["5d19930a0b40"] : null,
    resolvedIds: [],
    confirmedIds: [],
    examinedPaths: ["src/basket.ts"],
    omissions: [],
    complete: true,
    engine: kind === "diff" ? { name: "pr-agent", version: "0.48.0" } : { name: "opencode", version: "1.18.34" },
    ...over,
  }
}

type Reviewed = Extract<LeaseResult, { outcome: "reviewed" }>

function conclude(kind: "diff" | "dynamic", over: Partial<EngineReport> = {}, more: Partial<Conclusion> = {}): Reviewed {
  const { job } = exampleLease()
  const result = concludeReview({
    lease: exampleLease({ job: { ...job, kind } }),
    checkout: checkout(),
    report: report(kind, over),
    usage,
    upstreamModel: exampleCredentials.model.upstreamModel,
    knownSecrets: [exampleCredentials.githubToken, exampleCredentials.model.apiKey],
    steps,
    now: "2026-11-30T12:00:00.000Z",
    ...more,
  })
  if (result.outcome !== "reviewed") throw new Error("a review was expected")
  return result
}

test.each([
  ["diff", "Diff Review"],
  ["dynamic", "Dynamic Review"],
] as const)("a %s run becomes a result of the protocol whose comment holds the same state", (kind, words) => {
  const result = conclude(kind)
  expect(LeaseResult.parse(JSON.parse(JSON.stringify(result)))).toEqual(result)
  expect(result).toMatchObject({ fence: 3, reviewedSha: HEAD, usage, trace: { engine: report(kind).engine, steps, droppedFindings: [] } })
  expect(result.findings).toMatchObject([{ state: "active", path: "src/basket.ts", startLine: 8, engine: kind }])
  expect(result.comment).toContain(words)
  expect(parseComment(result.comment)?.state).toEqual(result.state)
})

test.each(["diff", "dynamic"] as const)("a secret that a %s engine repeats is nowhere in the result", (kind) => {
  const secrets = [exampleCredentials.githubToken, exampleCredentials.model.apiKey, `ghp_${"a1B2".repeat(9)}`]
  const text = `uses ${secrets.join(" and ")}`
  const leaky = finding({ title: `Key ${secrets[1]}`, body: text, evidence: [text], rules: [text] })
  const result = conclude(kind, { findings: [leaky] })
  for (const secret of secrets) expect(JSON.stringify(result)).not.toContain(secret)
  expect(result.findings[0]?.title).toMatch(/^Key \[redacted/)
})

test.each(["diff", "dynamic"] as const)("findings of a %s run that do not hold are dropped, counted and declared", (kind) => {
  const elsewhere = [
    finding({ path: "src/none.ts" }),
    finding({ path: "README.md", startLine: 1, endLine: 1 }),
    finding({ startLine: 90, endLine: 90 }),
  ]
  const fingerprints = kind === "diff" ? ["a".repeat(12), "b".repeat(12), "c".repeat(12), "d".repeat(12)] : null
  const { findings, trace, comment } = conclude(kind, { findings: [finding(), ...elsewhere], fingerprints })
  expect(findings).toHaveLength(1)
  expect(trace.droppedFindings).toEqual(
    expect.arrayContaining([
      { reason: "path_unknown", count: 1 },
      { reason: "outside_change", count: 1 },
      { reason: "lines_outside_file", count: 1 },
    ]),
  )
  expect(comment).not.toContain("src/none.ts")
})

test("no more findings are kept than the project wants, the most important ones first", () => {
  const many = ["P3", "P0", "P2"].map((priority) => finding({ title: `A ${priority}`, body: priority, priority: priority as "P0" }))
  const lease = exampleLease({ settings: { model: "m", skill: null, maxFindings: 1 } })
  const { findings, trace } = conclude("dynamic", { findings: many }, { lease })
  expect(findings.map(({ title }) => title)).toEqual(["A P0"])
  expect(trace.droppedFindings).toEqual([{ reason: "over_limit", count: 2 }])
})

test("what an engine did not look at makes the coverage partial", () => {
  expect(conclude("dynamic", { examinedPaths: [] }).coverage).toMatchObject({ status: "partial", reviewedFiles: 0, changedFiles: 1 })
})

// R-FIND-8
test("a prior finding stays with its id when a later run does not name it, and a restored state is declared", () => {
  const before = conclude("dynamic")
  const lease = exampleLease({ prior: { state: before.state, tampered: true } })
  const after = conclude("dynamic", { findings: [] }, { lease })
  expect(after.findings).toMatchObject([{ id: before.findings[0]?.id, state: "active" }])
  expect(after.comment).not.toBe(
    conclude("dynamic", { findings: [] }, { lease: exampleLease({ prior: { state: before.state, tampered: false } }) }).comment,
  )
})

test("what no database keeps is replaced before the result is handed over", () => {
  const odd = finding({ title: "A\0 title", body: "half \ud83d of a pair", evidence: ["\0"] })
  const { findings, state } = conclude("dynamic", { findings: [odd] })
  expect(findings).toMatchObject([{ title: "A\ufffd title", body: "half \ufffd of a pair", evidence: ["\ufffd"] }])
  expect(JSON.stringify(state)).not.toMatch(/\\u0000|\\ud83d/)
})

test("a title that a redaction made too long is cut between characters", () => {
  const title = `${"🚀".repeat(20)} password = "${"x".repeat(20)}" ok`
  const [kept] = conclude("dynamic", { findings: [finding({ title })] }).findings
  expect(kept?.title.isWellFormed()).toBe(true)
  expect(kept?.title.length).toBeLessThanOrEqual(80)
})

test("the comment names the logical model and, where it differs, the one that served it", () => {
  expect(conclude("dynamic").comment).toContain(`served by ${exampleCredentials.model.upstreamModel}`)
})

test("nothing reviewable makes a skipped result without usage", () => {
  const omissions = [{ path: "logo.png", reason: "binary", changed: true } as const]
  const file = {
    path: "logo.png",
    previousPath: null,
    status: "added",
    patch: null,
    changedLines: [],
    additions: 0,
    deletions: 0,
    omitted: "binary",
  } as const
  const result = skippedResult(exampleLease(), checkout({ changedFiles: [file], omitted: { omissions, total: 1 } }), steps)
  expect(LeaseResult.parse(result)).toEqual(result)
  expect(result).toMatchObject({
    outcome: "skipped",
    code: "no_reviewable_files",
    usage: noUsage,
    coverage: { status: "partial", reviewedFiles: 0 },
  })
  expect(result.coverage.omitted).toEqual({ omissions, total: 1 })
})
