import type { Checkout } from "@galley/checkout/checkout"
import type { EngineFinding } from "@galley/contract/finding"
import type { Lease, LeaseResult, RunTrace } from "@galley/contract/protocol"
import { noUsage, type Usage } from "@galley/contract/usage"
import type { EngineReport } from "@galley/engine/engine"
import { clipText } from "@galley/findings/clip-text"
import { computeCoverage } from "@galley/findings/coverage"
import { knownIds } from "@galley/findings/finding-identity"
import { findingView } from "@galley/findings/finding-view"
import { reconcile } from "@galley/findings/reconcile"
import { renderComment } from "@galley/findings/render-comment"
import { validateFindings } from "@galley/findings/validate-finding"
import { redact } from "@galley/redaction/redact"

export type Conclusion = Readonly<{
  lease: Lease
  checkout: Checkout
  report: EngineReport
  /** Of this attempt. */
  usage: Usage
  /** What the provider calls the model. */
  upstreamModel: string
  knownSecrets: readonly string[]
  steps: RunTrace["steps"]
  /** ISO time in UTC. */
  now: string
}>

/**
 * Turns what an engine reported into what the pull request will show: validated against the tree, reconciled with what was known, rendered.
 * Pure.
 *
 * @throws `finding_state_too_large`, `comment_too_large`
 */
export function concludeReview(input: Conclusion): LeaseResult {
  const { lease, checkout, report, usage, now } = input
  const prior = lease.prior.state
  const findings = report.findings.map((finding) => redactFinding(finding, input.knownSecrets))
  const valid = validateFindings(findings, checkout, {
    maxFindings: lease.settings.maxFindings,
    fingerprints: report.fingerprints,
    knownIds: knownIds(prior),
  })
  const coverage = computeCoverage(checkout, report)
  const reconciliation = reconcile({
    prior,
    kind: lease.job.kind,
    kept: valid.kept,
    fingerprints: valid.fingerprints,
    droppedIds: valid.droppedIds,
    resolvedIds: report.resolvedIds,
    confirmedIds: report.confirmedIds,
    engineComplete: report.complete,
    head: checkout,
    coverage,
    runId: lease.runUrl,
    now,
  })
  const comment = renderComment({
    kind: lease.job.kind,
    pullRequestUrl: lease.job.pullRequest.webUrl,
    reviewedSha: checkout.headSha,
    headPaths: checkout.headPaths,
    model: modelName(lease.settings.model, input.upstreamModel),
    engine: report.engine,
    reconciliation,
    coverage,
    tampered: lease.prior.tampered,
    dropped: valid.dropped,
    usage,
    runId: lease.leaseId,
    runUrl: lease.runUrl,
  })
  return {
    outcome: "reviewed",
    fence: lease.fence,
    reviewedSha: checkout.headSha,
    state: reconciliation.state,
    findings: reconciliation.state.findings.map(findingView),
    coverage,
    usage,
    trace: { engine: report.engine ?? NO_ENGINE, steps: input.steps, droppedFindings: [...valid.dropped] },
    comment,
  }
}

/** Readers see both names when an operator serves a logical model by another one. */
const modelName = (logical: string, upstream: string) => (logical === upstream ? logical : `${logical} (served by ${upstream})`)

const MAX_TITLE_CHARACTERS = 80
/** What stands in a secret's place may be longer than the secret. */
const shortTitle = (title: string) => (title.length <= MAX_TITLE_CHARACTERS ? title : clipText(title, MAX_TITLE_CHARACTERS))

/** Models write what no database keeps: NUL and halves of surrogate pairs become U+FFFD. */
const storable = (text: string) => text.replaceAll("\0", "\ufffd").toWellFormed()

/** A model may repeat a secret it was shown in a form that the gateway did not recognise in its place. */
function redactFinding(finding: EngineFinding, knownSecrets: readonly string[]): EngineFinding {
  const clean = (text: string) => storable(redact(text, knownSecrets).text)
  return {
    ...finding,
    title: shortTitle(clean(finding.title)),
    body: clean(finding.body),
    evidence: finding.evidence.map(clean),
    rules: finding.rules.map(clean),
  }
}

const NO_ENGINE = { name: "none", version: "0" }

/** The result of a run that found nothing it may show to a model. No model was called. */
export function skippedResult(lease: Lease, checkout: Checkout, steps: RunTrace["steps"]): LeaseResult {
  const nothing = { examinedPaths: [], omissions: [], complete: true }
  return {
    outcome: "skipped",
    fence: lease.fence,
    reviewedSha: checkout.headSha,
    code: "no_reviewable_files",
    coverage: computeCoverage(checkout, nothing),
    usage: noUsage,
    trace: { engine: NO_ENGINE, steps, droppedFindings: [] },
  }
}
